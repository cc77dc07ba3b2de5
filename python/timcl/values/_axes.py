"""Axes, extents and windows in NumPy's order, as the library takes them."""

from __future__ import annotations

from typing import Any, Sequence, Union

import numpy as np

from .. import _core
from ..errors import ArgumentError
from ._operands import handles
from ._types import known_shape
from ._value import Value

Operand = Any
Axes = Union[int, Sequence[int], None]
Window = Union[int, Sequence[int]]
Pads = Union[int, Sequence[Any]]


def axis_of(axis: Any) -> int:
    """The library's number of an axis: it counts from the other end."""
    (number,) = known_shape(axis, "an axis")
    return ~number


def axes_of(axis: Axes, x: Operand) -> list[int]:
    if axis is None:
        return list(range(x.ndim if isinstance(x, Value) else np.ndim(x)))
    return [~each for each in known_shape(axis, "axis")]


def extents_of(shape: Any, what: str) -> list[int]:
    return list(reversed(known_shape(shape, what)))


def pair_of(window: Window, what: str) -> list[int]:
    numbers = known_shape(window, what)
    if len(numbers) == 1:
        numbers *= 2
    if len(numbers) != 2:
        raise ArgumentError(f"{what} is {window!r}, expected 1 or 2 integers")
    return list(reversed(numbers))


def pads_of(pad: Pads, what: str = "pad") -> list[int]:
    """{left, right, top, bottom} of n, (vertical, horizontal) or
    ((top, bottom), (left, right))."""
    sides: Any = pad
    if isinstance(pad, int):
        sides = (pad, pad)
    try:
        vertical, horizontal = (
            (each, each) if isinstance(each, int) else tuple(each) for each in sides
        )
        numbers = known_shape((*horizontal, *vertical), what)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"{what} is {pad!r}, expected n, (vertical, horizontal) or "
            f"((top, bottom), (left, right))"
        ) from error
    if len(numbers) != 4:
        raise ArgumentError(f"{what} is {pad!r}, expected two numbers per axis")
    return list(numbers)


def several(op: str, x: Operand, **attributes: Any) -> tuple[Value, ...]:
    made = _core.values_call(op, handles([x]), list(attributes.items()), ())
    return tuple(Value(each) for each in made)
