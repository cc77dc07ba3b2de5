"""Operands and attributes of calls as _core takes them, and calls."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .. import _core
from ..errors import ArgumentError
from ._making import CONSTANT, COPY, default_type, from_array, memory
from ._types import library_type
from ._value import Value


def is_operand(value: Any) -> bool:
    """Whether operators take it beside a Value."""
    return isinstance(value, (Value, bool, int, float, np.ndarray, np.generic)) or (
        hasattr(value, "__dlpack__")
    )


def handle(operand: Any, like: str | None = None, known: bool = False) -> Any:
    """What _core knows an operand by. `like`: the type of numbers; `known`: arrays
    become constants."""
    if operand is None:
        return None
    if isinstance(operand, Value):
        return operand._handle
    if type(operand) is float and like in (None, "float32"):
        return _core.Value.literal(operand)
    if isinstance(operand, (str, bytes)) or operand is ...:
        raise ArgumentError(f"{operand!r} is no operand: expected a value")
    is_number = isinstance(operand, (bool, int, float))
    array, spec = memory(operand, like if is_number else None, None, None, "an operand")
    if is_number and spec.dtype == "float32":
        return _core.Value.literal(float(operand))
    return from_array(array, spec, CONSTANT if known else COPY)._handle


def handles(operands: Sequence[Any], weak: bool = False) -> list[Any]:
    """Handles of operands. `weak`: numbers take the type of the values."""
    values = [each for each in operands if isinstance(each, Value)]
    known = any(each._handle.symbolic for each in values)
    like = None
    if weak and any(isinstance(each, (bool, int, float)) for each in operands):
        like = _type_of_numbers(operands, values)
    return [handle(each, like, known) for each in operands]


def _type_of_numbers(operands: Sequence[Any], values: list[Value]) -> str | None:
    for each in values:
        name, _, quantization = each._handle.spec
        if not name:
            raise ArgumentError(
                "a number takes the type of the other operand, which is not known "
                "here; write value(2, dtype)"
            )
        if quantization is not None:
            raise ArgumentError(
                f"{each!r} is quantized, and a number beside it has no quantization; "
                f"write value(code, dtype, quantization=...)"
            )
        return str(name)
    for each in operands:
        if isinstance(each, (np.ndarray, np.generic)):
            return default_type(each, np.asarray(each))
    return None


def plain_attribute(name: str, given: Any) -> Any:
    """An attribute as _core takes it."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, np.generic):
        given = given.item()
    if isinstance(given, (list, tuple)):
        return [plain_attribute(name, each) for each in given]
    if isinstance(given, (np.dtype, type)):
        return library_type(given)
    if given == "bool" and name.endswith("_type"):
        return "bool8"
    return getattr(given, "_graph_handle", given)


def plain_attributes(attributes: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(name, plain_attribute(name, each)) for name, each in attributes.items()]


def library_name(op: Any) -> str:
    """The library's name: "tim.Relu" of "Relu"; one with a domain is as it is."""
    if not isinstance(op, str) or not op:
        raise ArgumentError(f"{op!r} is no operator: expected a name")
    return op if "." in op else "tim." + op


def results(made: Sequence[Any]) -> Any:
    """A Value, or a tuple of them."""
    values = tuple(Value(each) for each in made)
    return values[0] if len(values) == 1 else values


def one(op: str, inputs: Sequence[Any], **attributes: Any) -> Value:
    """The only result of an operator of the library."""
    listed = list(attributes.items())
    return Value(_core.values_call(op, handles(inputs), listed, ())[0])


def as_value(operand: Any) -> Value:
    """The value, or one of an array or a number."""
    return operand if isinstance(operand, Value) else Value(handle(operand))


def reshaped(x: Any, shape: Sequence[int]) -> Value:
    """The same elements in a shape in NumPy's order; () is one of rank 0."""
    extents = list(reversed(shape))
    made = one("tim.Reshape", [x], shape=extents or [1])
    return made if extents else one("tim.Squeeze", [made], axis=[0])


def elementwise(op: str, *inputs: Any, **attributes: Any) -> Value:
    """The same, where numbers take the type of the other operands."""
    listed = list(attributes.items())
    return Value(_core.values_call(op, handles(inputs, True), listed, ())[0])


def remainder(a: Any, b: Any) -> Value:
    """a - b * floor(a / b). The library's remainder of floats has a's sign: where
    that is not b's, b is added."""
    rest = elementwise("tim.Mod", a, b)
    if rest.dtype is not None and not rest.dtype.startswith(("float", "bfloat")):
        return rest
    turned = elementwise("tim.Multiply", one("tim.Sign", [rest]), b)
    moved = elementwise("tim.Add", rest, b)
    return one("tim.Select", [elementwise("tim.Less", turned, 0.0), moved, rest])
