"""Parts of values by integers and slices, as NumPy's basic indexing."""

from __future__ import annotations

import operator
from typing import Any

from ..errors import ArgumentError
from ._operands import one, reshaped
from ._types import shape_text
from ._value import Value


def get(x: Value, key: Any) -> Value:
    """x[key]: integers, slices with positive steps, ... and None."""
    keys = _expanded(key if isinstance(key, tuple) else (key,), x)
    shape = x.shape
    begin, end, step, made = [], [], [], []
    axis = 0
    for each in keys:
        if each is None:
            made.append(1)
            continue
        extent = shape[axis]
        if not isinstance(extent, int):
            raise ArgumentError(f"axis {axis} of {shape_text(shape)} is not known")
        if isinstance(each, slice):
            first, last, by = each.indices(extent)
            count = len(range(first, last, by))
            if by < 1 or count == 0:
                raise ArgumentError(
                    f"index {each} of axis {axis} with {extent} elements: expected a "
                    f"positive step and at least one element"
                )
            made.append(count)
        else:
            first, last, by = _element(each, axis, extent)
        begin.append(first)
        end.append(last)
        step.append(by)
        axis += 1
    parts = list(zip(begin, end, step))
    if parts != [(0, extent, 1) for extent in shape]:
        x = _part(x, begin, end, step)
    return x if tuple(made) == x.shape else reshaped(x, made)


def _expanded(keys: tuple[Any, ...], x: Value) -> list[Any]:
    """One key for each axis, and None for new ones."""
    rank = x.ndim
    used = sum(each is not None and each is not ... for each in keys)
    if used > rank or sum(each is ... for each in keys) > 1:
        raise ArgumentError(f"{len(keys)} indices for {shape_text(x.shape)}")
    rest = [slice(None)] * (rank - used)
    expanded: list[Any] = []
    for each in keys:
        expanded += rest if each is ... else [each]
    return expanded if any(each is ... for each in keys) else expanded + rest


def _element(key: Any, axis: int, extent: int) -> tuple[int, int, int]:
    if isinstance(key, bool) or not hasattr(key, "__index__") or _is_array(key):
        raise ArgumentError(
            f"{key!r} is no index: expected integers, slices, ... and None; gather() "
            f"takes indices that are values"
        )
    number = operator.index(key)
    if not -extent <= number < extent:
        raise IndexError(f"index {number} of axis {axis} with {extent} elements")
    number %= extent
    return number, number + 1, 1


def _is_array(key: Any) -> bool:
    return isinstance(key, Value) or getattr(key, "ndim", 0) > 0


def _part(x: Value, begin: list[int], end: list[int], step: list[int]) -> Value:
    begin, end, step = begin[::-1], end[::-1], step[::-1]
    if all(by == 1 for by in step):
        length = [last - first for first, last in zip(begin, end)]
        return one("tim.Slice", [x], dims=len(begin), start=begin, length=length)
    return one(
        "tim.StridedSlice",
        [x],
        begin_dims=begin,
        end_dims=end,
        stride_dims=step,
        begin_mask=0,
        end_mask=0,
        shrink_axis_mask=0,
    )
