"""What compiled graphs and models have in common: runs."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Any, Mapping, Sequence, Union

import numpy as np

from . import _core, profile
from .arrays import empty, fitting, writable
from .errors import ArgumentError, RunError
from .tensors import Port

Array = np.ndarray[Any, Any]
Inputs = Union[Mapping[str, Any], Sequence[Any]]


class Running:
    """A run that start() has begun.  Its arrays are the run's until wait() has
    returned; dropped, it waits."""

    def __init__(self, run: _core.Running, outputs: dict[str, Array]) -> None:
        self._run = run
        self._outputs = outputs
        _in_flight.add(self)

    def ready(self) -> bool:
        """Whether wait() would return at once."""
        return bool(self._run.ready())

    def wait(self) -> dict[str, Array]:
        """Blocks until the run has ended; its outputs by name."""
        self._run.wait()
        return self._outputs


_in_flight: weakref.WeakSet[Running] = weakref.WeakSet()


@atexit.register
def _wait_for_all() -> None:
    """Threads of the library must not meet an interpreter that ends."""
    for running in list(_in_flight):
        try:
            running.wait()
        except RunError:
            pass


class Runnable:
    """A graph with named inputs and outputs.  Any thread may start runs; other
    threads of Python go on while one is waited for."""

    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    _core: _core.Graph
    # Places of the ports among the graph's tensors.
    _input_places: Sequence[int] = ()
    _output_places: Sequence[int] = ()

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        """Runs on arrays in the order of `inputs`, or by name: an array, or a
        tuple of them where there are several outputs."""
        self._prepare()
        if len(arrays) > len(self.inputs):
            raise ArgumentError(
                f"{len(arrays)} arrays are given, there are {len(self.inputs)} inputs"
            )
        given = {port.name: array for port, array in zip(self.inputs, arrays)}
        for name in named:
            if name in given:
                raise ArgumentError(f"input '{name}' is given twice")
        results = tuple(self.run({**given, **named}).values())
        return results[0] if len(results) == 1 else results

    def run(
        self, inputs: Inputs = (), out: Mapping[str, Any] | None = None
    ) -> dict[str, Array]:
        """Runs, and returns the outputs by name.

        `inputs`: arrays by name, or a sequence in the order of `inputs`: NumPy's,
        or others with DLPack.  One in C's order is read in place; aligned to 64
        bytes it is not copied on the way to a device that shares the host's
        memory either.  `out`: arrays by name that results are written to.
        """
        self._prepare()
        read = self._read(inputs)
        written = self._written(out)
        self._core.run(read, self._placed(written))
        return written

    def start(
        self, inputs: Inputs = (), out: Mapping[str, Any] | None = None
    ) -> Running:
        """As run(), but returns at once; the arrays must not change before the
        run has ended.  Where four runs are in flight it waits for one."""
        self._prepare()
        read = self._read(inputs)
        written = self._written(out)
        return Running(self._core.start(read, self._placed(written)), written)

    def profile(self, inputs: Inputs | None = None, runs: int = 1) -> profile.Profile:
        """Runs step by step and tells where the time goes.  The first call
        measures what the devices reach, which takes a second.  `inputs`: as
        run(); without them the graph works on zeros, or those of the last call.
        """
        if runs < 1:
            raise ArgumentError(f"runs is {runs}, expected at least 1")
        self._prepare()
        if inputs is not None:
            tensors = self._core.ports(True)
            for tensor, array in zip(tensors, self._read(inputs)):
                tensor.write(array)
        return profile.from_core(self._core.profile(runs))

    def to_bytes(self) -> bytes:
        """The graph with its weights as a binary graph, which load() takes."""
        self._prepare()
        return bytes(self._core.to_bytes())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes to_bytes() to a file."""
        content = self.to_bytes()
        with open(path, "wb") as file:
            file.write(content)

    def dump(self, directory: str | os.PathLike[str], names: str = "") -> None:
        """Writes what Compile and a run of it see into a folder, see
        docs/dump.md; `names`: of which tensors the elements are written."""
        self._prepare()
        self._core.dump(os.fspath(directory), names)

    def _prepare(self) -> None:
        """Makes the graph ready to run."""

    def _set_ports(self, inputs: list[Any], outputs: list[Any]) -> None:
        """`inputs` and `outputs` are pairs of a Port and its tensor of _core."""
        self.inputs = tuple(port for port, _ in inputs)
        self.outputs = tuple(port for port, _ in outputs)
        self._input_places = self._places(inputs, True)
        self._output_places = self._places(outputs, False)

    def _places(self, ports: list[Any], of_inputs: bool) -> list[int]:
        by_id = {
            tensor.id: place for place, tensor in enumerate(self._core.ports(of_inputs))
        }
        return [by_id[tensor.id] for _, tensor in ports]

    def _read(self, inputs: Inputs) -> list[Array]:
        if not isinstance(inputs, Mapping):
            if isinstance(inputs, np.ndarray) or len(inputs) != len(self.inputs):
                raise ArgumentError(
                    f"run() takes a dict or a sequence of {len(self.inputs)} arrays"
                )
            inputs = {port.name: array for port, array in zip(self.inputs, inputs)}
        self._check_names(inputs, self.inputs, "input")
        placed: list[Any] = [None] * len(self.inputs)
        for port, place in zip(self.inputs, self._input_places):
            if port.name not in inputs:
                raise ArgumentError(f"input '{port.name}' is missing: {port}")
            placed[place] = fitting(
                inputs[port.name], f"input '{port.name}'", port.dtype, port.shape
            )
        return placed

    def _written(self, out: Mapping[str, Any] | None) -> dict[str, Array]:
        if out is not None and not isinstance(out, Mapping):
            raise ArgumentError(f"out is a {type(out).__name__}, expected a dict")
        given = out or {}
        self._check_names(given, self.outputs, "output")
        return {
            port.name: (
                writable(
                    given[port.name], f"output '{port.name}'", port.dtype, port.shape
                )
                if port.name in given
                else empty(port.dtype, port.shape)
            )
            for port in self.outputs
        }

    def _placed(self, written: dict[str, Array]) -> list[Array]:
        placed: list[Any] = [None] * len(written)
        for array, place in zip(written.values(), self._output_places):
            placed[place] = array
        return placed

    @staticmethod
    def _check_names(
        given: Mapping[str, Any], ports: Sequence[Port], what: str
    ) -> None:
        known = [port.name for port in ports]
        for name in given:
            if name not in known:
                raise ArgumentError(
                    f"there is no {what} '{name}'; there are "
                    + ", ".join(f"'{each}'" for each in known)
                )
