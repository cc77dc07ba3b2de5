"""Gradients of functions, graphs, and of what a tape has recorded."""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable, Sequence, Union

from .. import _core
from ..errors import ArgumentError
from . import _modes
from ._calls import on_handles
from ._graphs import Graph
from ._operands import handles
from ._types import known_shape
from ._value import Value

Wrt = Union[int, Sequence[int]]
_MOST_KEPT = 64


def _numbers(wrt: Wrt) -> list[int]:
    numbers = list(known_shape(wrt, "wrt"))
    if not numbers:
        raise ArgumentError("wrt names no input")
    return numbers


def value_and_grad(function: Callable[..., Any], wrt: Wrt = 0) -> Callable[..., Any]:
    """A function that returns (value, gradients): what `function` returns, one float
    element, and its gradients by the arguments whose numbers are `wrt`: one for an
    integer, a tuple for several.

    Each call calls `function` once with symbolic values, so it may not look at
    elements; a Tape may. Arguments by keyword are handed through as they are.
    """
    numbers = _numbers(wrt)
    made: dict[Any, Any] = {}
    lock = threading.Lock()

    def gradient_of(static: dict[str, Any]) -> Any:
        try:
            key = tuple(sorted(static.items()))
            hash(key)
        except TypeError:
            key = None
        with lock:
            if key is not None and key in made:
                return made[key]
        called = on_handles(lambda *inputs: function(*inputs, **static), "the function")
        gradient = _core.Gradient(called, numbers)
        with lock:
            if key is not None:
                if len(made) == _MOST_KEPT:
                    made.clear()
                made[key] = gradient
        return gradient

    @functools.wraps(function)
    def both(*inputs: Any, **static: Any) -> tuple[Value, Any]:
        for number in numbers:
            if not 0 <= number < len(inputs):
                raise ArgumentError(
                    f"wrt names argument {number} of {len(inputs)} that are given"
                )
        found = gradient_of(static).call(handles(inputs))
        value, *gradients = (Value(each) for each in found)
        return value, gradients[0] if isinstance(wrt, int) else tuple(gradients)

    return both


def grad(function: Callable[..., Any], wrt: Wrt = 0) -> Callable[..., Any]:
    """The gradients alone; what it returns can be differentiated again."""
    both = value_and_grad(function, wrt)

    @functools.wraps(function)
    def gradients(*inputs: Any, **static: Any) -> Any:
        return both(*inputs, **static)[1]

    return gradients


def differentiate(graph: Graph, wrt: Wrt = 0) -> Graph:
    """The graph with, behind its outputs, the gradients of output 0, one float
    element, by the inputs whose numbers are `wrt`. All extents of its inputs are
    known: Graph.specialize()."""
    made = _core.values_differentiate(_handle(graph), _numbers(wrt))
    return Graph._of(made)


def vjp(graph: Graph, wrt: Wrt = 0) -> Graph:
    """A graph whose outputs are the gradients by the inputs `wrt`: it has a further
    input for each output, the cotangent, which says what its elements count for."""
    return Graph._of(_core.values_vjp(_handle(graph), _numbers(wrt)))


def _handle(graph: Graph) -> Any:
    if not isinstance(graph, Graph):
        raise ArgumentError(f"{graph!r} is no graph: Graph.capture() makes one")
    return graph._graph_handle


class Tape:
    """Records the calls of this thread in a with statement, whatever decides on
    them, and differentiates them there:

        with Tape() as tape:
            loss = reduce_mean(square(x @ w - y))
            (gradient,) = tape.gradient(loss, [w])

    Tapes nest. What a Program computes is a constant to them; a captured function
    is called as its graph.
    """

    def __init__(self) -> None:
        self._tape = _core.Tape()

    def __enter__(self) -> "Tape":
        self._tape.begin()
        _modes.thread.tapes += 1
        return self

    def __exit__(self, *exception: Any) -> None:
        _modes.thread.tapes -= 1
        self._tape.end()

    def gradient(self, of: Value, wrt: Any) -> Any:
        """Gradients of `of`, one float element, by a value, or a tuple by several;
        zeros for those that it was not computed from."""
        if not isinstance(of, Value):
            raise ArgumentError(f"{of!r} is no value")
        listed = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
        for each in listed:
            if not isinstance(each, Value):
                raise ArgumentError(f"{each!r} is no value")
        found = self._tape.gradient(of._handle, [each._handle for each in listed])
        made = tuple(Value(each) for each in found)
        return made if isinstance(wrt, (list, tuple)) else made[0]
