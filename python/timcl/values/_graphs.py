"""Graphs, which are functions of values without their data, and programs."""

from __future__ import annotations

import os
from typing import Any, Callable, NamedTuple, Sequence

from .. import _core
from ..errors import ArgumentError
from . import _modes
from ._calls import ComputeEstimate, MemoryEstimate, checked_values, on_handles
from ._operands import handle, handles, results
from ._patterns import Match, Pattern
from ._types import Spec, as_spec, core_specs
from ._value import Value


class NodeReport(NamedTuple):
    """A node as a plan has it. `reason`: why other kernels were not taken;
    `measured_us` is -1 where nothing was measured."""

    name: str
    op: str
    device: str
    kernel: str
    reason: str
    memory: MemoryEstimate
    compute: ComputeEstimate
    predicted_us: float
    measured_us: float


def _reports(made: Sequence[Any]) -> list[NodeReport]:
    return [
        NodeReport._make(
            (*each[:5], MemoryEstimate(*each[5]), ComputeEstimate(*each[6]), *each[7:])
        )
        for each in made
    ]


class Graph:
    """A function of values without its data. Types, ranks and extents may be open.

    Made by Graph.capture(function, specs), or step by step:

        graph = Graph()
        x = graph.input(Spec((None, 3)))
        graph.output(relu(x))
    """

    __slots__ = ("_graph_handle",)

    def __init__(self) -> None:
        self._graph_handle = _core.ValueGraph.make()

    @classmethod
    def _of(cls, made: _core.ValueGraph) -> "Graph":
        graph = cls.__new__(cls)
        graph._graph_handle = made
        return graph

    @classmethod
    def capture(
        cls, function: Callable[..., Any], inputs: Sequence[Any], name: str = ""
    ) -> "Graph":
        """Calls `function` once with symbolic values of these specs. What it uses
        of outside becomes a constant where it is one, else an input that is bound
        to the value."""
        name = name or getattr(function, "__name__", "")
        called = on_handles(function, "the function")
        return cls._of(_core.ValueGraph.capture(called, core_specs(list(inputs)), name))

    def input(self, spec: Any = None, name: str = "") -> Value:
        """A further input."""
        return Value(self._graph_handle.input(as_spec(spec)._to_core(), name))

    def output(self, value: Any) -> None:
        """A further output."""
        self._graph_handle.output(handle(value))

    @property
    def level(self) -> int:
        """0: an input has an unknown type, rank or extent; 1: no input has, but a
        value; 2: all are known."""
        return int(self._graph_handle.level)

    @property
    def input_specs(self) -> list[Spec]:
        return [Spec._from_core(each) for each in self._graph_handle.input_specs]

    @property
    def output_specs(self) -> list[Spec]:
        return [Spec._from_core(each) for each in self._graph_handle.output_specs]

    def specialize(self, *inputs: Any) -> "Graph":
        """The graph for these specs of its inputs; it shares the constants."""
        return Graph._of(self._graph_handle.specialize(core_specs(inputs)))

    def __call__(self, *inputs: Any) -> Any:
        """The graph as a function; in another graph that is being made it becomes
        one node of its name."""
        return results(self._graph_handle.call(handles(inputs)))

    def compile(
        self,
        device: _modes.DeviceLike = None,
        *,
        policy: str = "",
        max_plans: int = 16,
        strict: bool = False,
        relaxed: bool = False,
        many_shapes: bool = False,
    ) -> "Program":
        """A program, which makes a plan for the specs of the inputs that it meets,
        and keeps `max_plans`. `strict`: a step on the host beside another device is
        an error. `relaxed`: float32 may be computed with less accuracy.
        `many_shapes`: kernels' programs serve for many extents."""
        on = "" if device is None else _modes.Device(device).id
        return Program(
            self._graph_handle.compile(
                on, policy, max_plans, strict, relaxed, many_shapes
            )
        )

    def estimate_memory(self) -> MemoryEstimate:
        return MemoryEstimate(*self._graph_handle.memory())

    def estimate_compute(self) -> ComputeEstimate:
        return ComputeEstimate(*self._graph_handle.compute())

    def predict_microseconds(self, device: _modes.DeviceLike = None) -> float:
        return float(self._graph_handle.predict(_modes.Device(device)._handle))

    def report(self, device: _modes.DeviceLike = None) -> list[NodeReport]:
        """Every node with its kernel and the reasons against others."""
        return _reports(self._graph_handle.report(_modes.Device(device)._handle))

    def replace(
        self,
        pattern: Pattern,
        replacement: Callable[[Match], Any],
        max_rounds: int = 1,
    ) -> int:
        """Puts the values that `replacement(match)` returns in the place of the
        results of each match's root, at most `max_rounds` times and until nothing
        matches; how often that was done. A replacement of another type or shape is
        left out. After an error the graph is as it was."""
        called = _on_matches(replacement)
        return int(
            _core.values_replace(
                self._graph_handle, pattern._handle, called, max_rounds
            )
        )

    def find_all(self, pattern: Pattern) -> list[Match]:
        """All matches, in topological order of their roots, without overlap."""
        found = _core.values_find(self._graph_handle, pattern._handle)
        return [Match(each) for each in found]

    def dump(self) -> str:
        """One line per value and node, in the library's order of axes."""
        return str(self._graph_handle.dump())

    def __repr__(self) -> str:
        ports = ", ".join(map(str, self.input_specs))
        made = ", ".join(map(str, self.output_specs))
        return f"<timcl.values.Graph ({ports}) -> ({made})>"


def _on_matches(function: Callable[[Match], Any]) -> Callable[[Any], Any]:
    """`function` of a match as what _core calls."""
    if not callable(function):
        raise ArgumentError(f"the replacement is {function!r}, expected a function")

    def on_match(given: _core.Match) -> list[_core.Value]:
        made = checked_values(function(Match(given)), "the replacement")
        return [each._handle for each in made]

    return on_match


class Program:
    """A graph with plans for the inputs that it was given. Any thread."""

    __slots__ = ("_handle",)

    def __init__(self, made: _core.Program) -> None:
        self._handle = made

    def run(self, *inputs: Any) -> Any:
        """Begins a run and returns its value, or a tuple of them, at once; they
        may be inputs of the next run."""
        return results(self._handle.run(handles(inputs)))

    def prepare(self, *specs: Any) -> None:
        """Makes the plan for inputs of these specs now."""
        self._handle.prepare(core_specs(specs))

    def profile(self, inputs: Sequence[Any], runs: int = 10) -> list[NodeReport]:
        """Every node with the mean time of `runs` runs."""
        return _reports(self._handle.profile(handles(inputs), runs))

    @property
    def stats(self) -> _modes.CacheStats:
        return _modes.CacheStats(*self._handle.stats())

    def explain(self) -> str:
        """The plans, with kernels and what was refused."""
        return str(self._handle.explain())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph to a file; load() makes plans anew."""
        self._handle.save(os.fspath(path))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> "Program":
        return Program(_core.Program.load(os.fspath(path)))
