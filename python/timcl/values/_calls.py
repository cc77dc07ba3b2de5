"""Operators by name, functions of the host, decisions, loops and variables."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence

import numpy as np

from .. import _core
from ..custom import CustomOp
from ..errors import ArgumentError
from . import _modes
from ._making import memory
from ._operands import (
    as_value,
    handle,
    handles,
    library_name,
    plain_attributes,
    results,
)
from ._types import Spec, as_spec, core_specs, memory_shape, numpy_type
from ._value import Array, Value


def call(
    op: str | CustomOp,
    inputs: Any,
    /,
    *,
    after: Sequence["Token"] = (),
    **attributes: Any,
) -> Any:
    """Calls any operator by its name, "Conv2d" or "acme.FancyNorm", or a custom
    one, and returns its result, or a tuple where there are several.

    `inputs`: values, arrays and numbers; None for an optional one that is absent.
    `attributes`: as docs/operators.md and the headers document them: an axis counts
    from the fastest-varying one, which is 0, and lists of extents begin with it.
    Enumerations by name. `output_type="float16"`, `output_scale=0.1`,
    `output_zero_point=128` and so on are of the results.
    `after`: what has to have happened before.
    """
    if isinstance(op, CustomOp):
        from . import _custom

        return _custom.call(op, _listed(inputs), attributes)
    name = library_name(op)
    named = plain_attributes(attributes)
    made = _core.values_call(name, handles(_listed(inputs)), named, tokens(after))
    return results(made)


def _listed(inputs: Any) -> list[Any]:
    if isinstance(inputs, (list, tuple)):
        return list(inputs)
    return [inputs]


class MemoryEstimate(NamedTuple):
    """Bytes. `bound`: made from upper bounds of extents."""

    inputs: int
    outputs: int
    scratch: int
    bound: bool


class ComputeEstimate(NamedTuple):
    """Operations (a multiply-add is two) and bytes."""

    flops: float
    bytes_read: float
    bytes_written: float
    bound: bool


class Node:
    """An operator with its attributes, see call()."""

    def __init__(self, op: str, /, **attributes: Any) -> None:
        self.op = library_name(op)
        self._handle = _core.OperatorNode.make(self.op, plain_attributes(attributes))

    def __call__(self, *inputs: Any, after: Sequence["Token"] = ()) -> Any:
        """Runs or records the operator."""
        return results(self._handle.call(handles(inputs), tokens(after)))

    def eval(self, *inputs: Any) -> Any:
        """Results by the host's reference, as arrays."""
        operands: list[Any] = []
        for each in inputs:
            if each is None:
                operands.append(None)
                continue
            if isinstance(each, Value):
                operands.append((each._handle.spec, each._view()))
                continue
            array, spec = memory(each, None, None, None, "an operand")
            operands.append((spec._to_core(), array))
        made = tuple(
            np.frombuffer(data, numpy_type(name)).reshape(memory_shape(name, shape))
            for (name, shape, _), data in self._handle.eval(operands)
        )
        return made[0] if len(made) == 1 else made

    def infer_outputs(self, *specs: Any) -> list[Spec]:
        """What can be known of the results."""
        return [Spec._from_core(each) for each in self._handle.infer(core_specs(specs))]

    def estimate_memory(self, *specs: Any) -> MemoryEstimate:
        return MemoryEstimate(*self._handle.memory(core_specs(specs)))

    def estimate_compute(self, *specs: Any) -> ComputeEstimate:
        return ComputeEstimate(*self._handle.compute(core_specs(specs)))

    def predict_microseconds(
        self, *specs: Any, device: _modes.DeviceLike = None
    ) -> float:
        """Time of the kernel that would be taken."""
        on = _modes.Device(device)._handle
        return float(self._handle.predict(core_specs(specs), on))

    def __repr__(self) -> str:
        return f"<timcl.values.Node {self.op}>"


class Token:
    """The signal of a change, to order what has effects."""

    __slots__ = ("_handle",)

    def __init__(self, handle: _core.Token) -> None:
        self._handle = handle

    def wait(self) -> None:
        """Blocks until the change has been made; RunError where it failed."""
        self._handle.wait()


def tokens(after: Any) -> list[_core.Token]:
    """Handles of what a call comes after."""
    listed = list(after) if isinstance(after, (list, tuple)) else [after]
    for each in listed:
        if not isinstance(each, Token):
            raise ArgumentError(f"after has {each!r}, expected tokens")
    return [each._handle for each in listed]


class Variable:
    """A place with a value. In a captured function it is a state: each run reads
    the value from before it, and leaves the one that was assigned last. Any
    thread."""

    def __init__(self, initial: Any, name: str = "") -> None:
        self.name = name
        self._handle = _core.Variable.make(handle(initial), name)

    def read(self, after: Sequence[Token] = ()) -> Value:
        """The value now, which stays as it is."""
        return Value(self._handle.read(tokens(after)))

    def assign(self, value: Any, after: Sequence[Token] = ()) -> Token:
        """Puts a value of the same type and shape in its place."""
        return Token(self._handle.assign(handle(value), tokens(after)))

    def __repr__(self) -> str:
        return f"<timcl.values.Variable '{self.name}'>"


def checked_values(made: Any, what: str) -> list[Value]:
    """Results of a user's function as values."""
    listed = list(made) if isinstance(made, (list, tuple)) else [made]
    values = []
    for each in listed:
        if each is None or isinstance(each, str):
            raise ArgumentError(f"{what} returned {each!r}, expected values")
        values.append(as_value(each))
    return values


def on_handles(function: Callable[..., Any], what: str) -> Callable[[Any], Any]:
    """`function` of values as what _core calls."""
    if not callable(function):
        raise ArgumentError(f"{what} is {function!r}, expected a function")

    def called(given: list[_core.Value]) -> list[_core.Value]:
        made = function(*(Value(each) for each in given))
        return [each._handle for each in checked_values(made, what)]

    return called


def if_(
    condition: Any,
    inputs: Sequence[Any],
    then_part: Callable[..., Any],
    else_part: Callable[..., Any],
) -> Any:
    """then_part(*inputs) where the one element of `condition` is not 0, else
    else_part(*inputs). In a captured function it becomes a node, whose parts return
    values of equal types and shapes."""
    made = _core.values_if(
        handle(condition),
        handles(_listed(inputs)),
        on_handles(then_part, "then_part"),
        on_handles(else_part, "else_part"),
    )
    return results(made)


def while_(
    state: Sequence[Any],
    condition: Callable[..., Any],
    body: Callable[..., Any],
    max_trips: int = -1,
) -> Any:
    """What is left of `state` after `state = body(*state)`, as long as the one
    element of `condition(*state)` is not 0, `max_trips` times at most."""
    made = _core.values_while(
        handles(_listed(state)),
        on_handles(condition, "condition"),
        on_handles(body, "body"),
        max_trips,
    )
    return results(made)


def _held(name: str, function: Callable[..., Any], specs: list[Spec]) -> Any:
    """`function` of arrays as what _core calls."""

    def called(given: list[Any]) -> list[Any]:
        operands: list[Array | None] = []
        for each in given:
            if each is None:
                operands.append(None)
                continue
            data, (dtype, shape, _) = each
            held = np.frombuffer(data, numpy_type(dtype))
            operands.append(held.reshape(memory_shape(dtype, shape)))
        made = function(*operands)
        listed = list(made) if isinstance(made, (list, tuple)) else [made]
        if len(listed) != len(specs):
            raise ArgumentError(
                f"holder {name}: the function returned {len(listed)} arrays, expected "
                f"{len(specs)}"
            )
        return [
            _result(each, spec, f"holder {name}: result {number}")
            for number, (each, spec) in enumerate(zip(listed, specs))
        ]

    return called


def _result(made: Any, spec: Spec, what: str) -> tuple[Any, Array]:
    shape = spec.shape if spec.is_static else None
    array, given = memory(made, spec.dtype, shape, spec.quantization, what)
    return given._to_core(), array


def holder(
    name: str,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    function: Callable[..., Any] | None = None,
    *,
    ordered: bool = False,
    random: bool = False,
    after: Sequence[Token] = (),
) -> Any:
    """An operation `name` ("acme.Detect") that `function` does on the host: it takes
    arrays, None for absent inputs, and returns an array for each of the specs
    `outputs`. In a captured function it is a step of the graph; without a function it
    keeps its place, and compile() fails.

    `ordered`: calls keep their order, and none is left out. `random`: two calls
    with the same operands may differ. `after`: what has to have happened before.
    """
    specs = [as_spec(each) for each in outputs]
    called = None if function is None else _held(name, function, specs)
    *made, _ = _core.values_hold(
        name,
        handles(_listed(inputs)),
        core_specs(specs),
        called,
        ordered,
        random,
        tokens(after),
    )
    return results(made)
