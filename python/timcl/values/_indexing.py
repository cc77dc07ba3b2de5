"""Parts of values by integers and slices, as NumPy's basic indexing."""

from __future__ import annotations

import operator
from typing import Any

from ..errors import ArgumentError
from ._operands import one, reshaped
from ._types import shape_text
from ._value import Value


def get(x: Value, key: Any) -> Value:
    """x[key]: integers, slices with positive steps, ... and None. An axis whose extent
    is not known is taken as a whole."""
    keys = _expanded(key if isinstance(key, tuple) else (key,), x)
    parts, made = [], []
    for each in keys:
        if each is None:
            made.append(1)
            continue
        part, count = _chosen(each, len(parts), x.shape)
        parts.append(part)
        made += count
    if parts != [(0, _extent_of(each), 1) for each in x.shape]:
        x = _part(x, *(list(each) for each in zip(*reversed(parts))))
    extents = [_extent_of(each) or -1 for each in x.shape]
    return x if made == extents else reshaped(x, made)


def _extent_of(extent: Any) -> int | None:
    return extent if isinstance(extent, int) else None


def _chosen(
    key: Any, axis: int, shape: tuple[Any, ...]
) -> tuple[tuple[int, int | None, int], list[int]]:
    """Begin, end (None: that of the axis) and step, and the extent that is made, if
    any: -1 where it is not known."""
    extent = _extent_of(shape[axis])
    if not isinstance(key, slice):
        if extent is None:
            raise ArgumentError(_unknown(key, axis, shape))
        return _element(key, axis, extent), []
    if extent is None:
        if (key.start, key.stop, key.step) != (None, None, None):
            raise ArgumentError(_unknown(key, axis, shape))
        return (0, None, 1), [-1]
    first, last, by = key.indices(extent)
    count = len(range(first, last, by))
    if by < 1 or count == 0:
        raise ArgumentError(
            f"index {key} of axis {axis} with {extent} elements: expected a positive "
            f"step and at least one element"
        )
    return (first, last, by), [count]


def _unknown(key: Any, axis: int, shape: tuple[Any, ...]) -> str:
    return (
        f"index {key!r} of axis {axis} of {shape_text(shape)}, which is not known: "
        f"expected [:]"
    )


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


def _part(
    x: Value, begin: list[int], end: list[int | None], step: list[int]
) -> Value:
    """Lists that begin with the fastest axis."""
    known = [last for last in end if last is not None]
    if len(known) == len(end) and all(by == 1 for by in step):
        length = [last - first for first, last in zip(begin, known)]
        return one("tim.Slice", [x], dims=len(begin), start=begin, length=length)
    return one(
        "tim.StridedSlice",
        [x],
        begin_dims=begin,
        end_dims=[last or 0 for last in end],
        stride_dims=step,
        begin_mask=0,
        end_mask=sum(1 << axis for axis, last in enumerate(end) if last is None),
        shrink_axis_mask=0,
    )
