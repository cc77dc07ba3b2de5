"""Functions that are captured once for each kind of their arguments."""

from __future__ import annotations

import collections
import functools
import threading
from typing import Any, Callable, Sequence

from .. import _core
from ..errors import ArgumentError
from . import _modes
from ._graphs import Graph, Program
from ._operands import as_value
from ._types import Spec, core_specs
from ._value import Value

_MOST_GRAPHS = 64


class _Captured:
    """A graph, its programs, and what the function returned."""

    def __init__(self, graph: Graph, shape: Any) -> None:
        self.graph = graph
        # None: one value; else the type of the sequence.
        self._shape = shape
        self.programs: dict[str, Program] = {}

    def result(self, made: Any) -> Any:
        if self._shape is None:
            return made
        return self._shape(made if isinstance(made, tuple) else (made,))


class CapturedFunction:
    """What capture() makes of a function."""

    __name__: str

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Sequence[Any] | None,
        open_shapes: bool,
        options: dict[str, Any],
    ) -> None:
        if not callable(function):
            raise ArgumentError(f"{function!r} is no function to capture")
        functools.update_wrapper(self, function)
        self.__name__ = getattr(function, "__name__", "graph")
        self._function = function
        # Specs as _core has them, which are tuples.
        self._specs = None if inputs is None else core_specs(list(inputs))
        self._open_shapes = open_shapes
        device = options.pop("device", None)
        self._device = None if device is None else _modes.Device(device).id
        self._options = options
        self._made: collections.OrderedDict[Any, _Captured] = collections.OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, *inputs: Any, **static: Any) -> Any:
        values = [as_value(each) for each in inputs]
        captured = self._captured([each._handle.spec for each in values], static)
        if (
            any(each._handle.symbolic for each in values)
            or _modes.thread.tapes
            or _core.values_is_lazy()
        ):
            return captured.result(captured.graph(*values))
        return captured.result(self._program(captured, values).run(*values))

    def graph(self, *specs: Any, **static: Any) -> Graph:
        """The graph for inputs of these specs."""
        return self._captured(core_specs(specs), static).graph

    def program(self, *specs: Any, **static: Any) -> Program:
        """The program for inputs of these specs, on the device of the scope, the one
        that capture() was given, or the default one."""
        captured = self._captured(core_specs(specs), static)
        return self._program(captured, [])

    def _program(self, captured: _Captured, values: list[Value]) -> Program:
        device = self._device or _modes.device_for(values)
        with self._lock:
            program = captured.programs.get(device)
        if program is None:
            program = captured.graph.compile(device, **self._options)
            with self._lock:
                program = captured.programs.setdefault(device, program)
        return program

    def _captured(self, specs: list[Any], static: dict[str, Any]) -> _Captured:
        if self._specs is not None:
            if len(specs) not in (0, len(self._specs)):
                raise ArgumentError(
                    f"{self.__name__} was captured with {len(self._specs)} inputs, not "
                    f"{len(specs)}"
                )
            specs = self._specs
        elif self._open_shapes:
            specs = [_opened(each) for each in specs]
        try:
            key = (tuple(specs), tuple(sorted(static.items())))
            hash(key)
        except TypeError as error:
            raise ArgumentError(
                f"{self.__name__}: keyword arguments are fixed when the function is "
                f"captured and must be hashable; give values by position ({error})"
            ) from error
        with self._lock:
            found = self._made.get(key)
            if found is not None:
                self._made.move_to_end(key)
                return found
        made = self._capture(specs, static)
        with self._lock:
            found = self._made.setdefault(key, made)
            while len(self._made) > _MOST_GRAPHS:
                self._made.popitem(last=False)
        return found

    def _capture(self, specs: list[Any], static: dict[str, Any]) -> _Captured:
        shapes: list[Any] = []

        def called(*inputs: Value) -> Any:
            made = self._function(*inputs, **static)
            is_list = isinstance(made, list)
            shapes.append(
                list if is_list else tuple if isinstance(made, tuple) else None
            )
            return made

        known = [Spec._from_core(each) for each in specs]
        return _Captured(Graph.capture(called, known, self.__name__), shapes[-1])


def _opened(spec: Any) -> Any:
    name, shape, quantization = spec
    return (name, None if shape is None else (None,) * len(shape), quantization)


def capture(
    function: Callable[..., Any] | None = None,
    /,
    *,
    inputs: Sequence[Any] | None = None,
    open_shapes: bool = False,
    device: _modes.DeviceLike = None,
    **options: Any,
) -> Any:
    """Makes a function of values a program. A decorator:

        @capture
        def mlp(x, w1, w2):
            return softmax(relu(x @ w1) @ w2)

    The function is called once for each combination of its arguments' types,
    shapes and quantizations (64 are kept), with symbolic values, and what it
    recorded is compiled; later calls run that. It may not look at elements: use
    if_, while_ or select. Arguments by position are values, arrays or numbers;
    those by keyword are fixed and a part of the combination. Values from outside
    are bound as they were when the function was captured, a Variable is a state.

    `inputs`: specs; the function is captured once, for these. `open_shapes`: once
    for each combination of types and ranks; the program makes a plan for each
    shape. `device` and `options` are those of Graph.compile().

    In lazy mode, on a tape and in functions that are captured themselves, the
    graph is called.
    """
    if function is None:
        return lambda given: capture(
            given, inputs=inputs, open_shapes=open_shapes, device=device, **options
        )
    return CapturedFunction(
        function, inputs, open_shapes, {"device": device, **options}
    )
