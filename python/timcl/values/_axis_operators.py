"""Operators along axes, and those that move elements; see _operators.py."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from ..errors import ArgumentError
from ._axes import Axes, Operand, axes_of, axis_of, extents_of, several
from ._operands import as_value, one, reshaped
from ._types import known_shape
from ._value import Value


def softmax(x: Operand, axis: int = -1, beta: float = 1.0) -> Value:
    """e^(beta * x) over its sum along the axis."""
    return one("tim.Softmax", [x], beta=float(beta), axis=axis_of(axis))


def log_softmax(x: Operand, axis: int = -1, beta: float = 1.0) -> Value:
    """The logarithm of softmax()."""
    return one("tim.LogSoftmax", [x], beta=float(beta), axis=axis_of(axis))


def _reduced(op: str, x: Operand, axis: Axes, keep_dims: bool) -> Value:
    axes = axes_of(axis, x)
    if not axes:
        return as_value(x)
    return one(op, [x], axis=axes, keep_dims=bool(keep_dims))


def reduce_sum(x: Operand, axis: Axes = None, keep_dims: bool = False) -> Value:
    """Without `axis` along all of them."""
    return _reduced("tim.ReduceSum", x, axis, keep_dims)


def reduce_mean(x: Operand, axis: Axes = None, keep_dims: bool = False) -> Value:
    return _reduced("tim.ReduceMean", x, axis, keep_dims)


def reduce_max(x: Operand, axis: Axes = None, keep_dims: bool = False) -> Value:
    return _reduced("tim.ReduceMax", x, axis, keep_dims)


def reduce_min(x: Operand, axis: Axes = None, keep_dims: bool = False) -> Value:
    return _reduced("tim.ReduceMin", x, axis, keep_dims)


def reduce_prod(x: Operand, axis: Axes = None, keep_dims: bool = False) -> Value:
    return _reduced("tim.ReduceProd", x, axis, keep_dims)


def reduce_any(x: Operand, axis: Axes = None, keep_dims: bool = False) -> Value:
    return _reduced("tim.ReduceAny", x, axis, keep_dims)


def reduce_all(x: Operand, axis: Axes = None, keep_dims: bool = False) -> Value:
    return _reduced("tim.ReduceAll", x, axis, keep_dims)


def arg_max(x: Operand, axis: int = -1) -> Value:
    """The index of the first greatest element."""
    return one("tim.ArgMax", [x], axis=axis_of(axis))


def arg_min(x: Operand, axis: int = -1) -> Value:
    """The index of the first least element."""
    return one("tim.ArgMin", [x], axis=axis_of(axis))


def cum_sum(x: Operand, axis: int = -1) -> Value:
    return one("tim.CumSum", [x], axis=axis_of(axis))


def l2_normalization(x: Operand, axis: int = -1) -> Value:
    return one("tim.L2Normalization", [x], axis=axis_of(axis))


def layer_normalization(
    x: Operand, beta: Operand, gamma: Operand, axis: int = -1, eps: float = 1e-5
) -> Value:
    return one(
        "tim.LayerNormalization",
        [x, beta, gamma],
        axis=axis_of(axis),
        eps=float(eps),
    )


def reshape(x: Operand, shape: Any) -> Value:
    """The same elements; one extent may be -1."""
    return reshaped(x, known_shape(shape))


def squeeze(x: Operand, axis: Axes) -> Value:
    """Without these axes, whose extents are 1."""
    return one("tim.Squeeze", [x], axis=axes_of(axis, x))


def transpose(x: Operand, axes: Sequence[int] | None = None) -> Value:
    """Axis i of the result is axis axes[i] of x; without `axes` they are reversed."""
    if axes is None:
        order = list(reversed(axes_of(None, x)))
    else:
        given = known_shape(axes, "axes")
        rank = len(given)
        if any(not -rank <= each < rank for each in given):
            raise ArgumentError(f"axes are {axes!r}, expected those of rank {rank}")
        order = [rank - 1 - each % rank for each in reversed(given)]
    if not order and not axes_of(None, x):
        return as_value(x)
    return one("tim.Transpose", [x], perm=order)


def broadcast(x: Operand, shape: Any) -> Value:
    return one("tim.Broadcast", [x], shape=extents_of(shape, "shape"))


def tile(x: Operand, multiples: Sequence[int]) -> Value:
    """Repeated this often along each axis."""
    return one("tim.Tile", [x], multiples=extents_of(multiples, "multiples"))


def reverse(x: Operand, axis: Axes) -> Value:
    return one("tim.Reverse", [x], axis=axes_of(axis, x))


def concat(values: Sequence[Operand], axis: int = 0) -> Value:
    """One behind the other along an axis."""
    listed = list(values)
    return one("tim.Concat", listed, axis=axis_of(axis), input_cnt=len(listed))


def stack(values: Sequence[Operand], axis: int = 0) -> Value:
    """Beside one another along a new axis."""
    listed = list(values)
    return one("tim.Stack", listed, axis=axis_of(axis), input_cnt=len(listed))


def split(x: Operand, extents: Sequence[int], axis: int = 0) -> tuple[Value, ...]:
    """Parts with these extents along an axis."""
    slices = list(known_shape(extents, "extents"))
    return several("tim.Split", x, axis=axis_of(axis), slices=slices)


def unstack(x: Operand, count: int, axis: int = 0) -> tuple[Value, ...]:
    """The `count` slices along an axis, which they do not have."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ArgumentError(f"count is {count!r}, expected an integer of at least 1")
    return several("tim.Unstack", x, axis=axis_of(axis), output_num=count)


def slice(x: Operand, start: Sequence[int], length: Sequence[int]) -> Value:
    """From `start`, `length` elements along each axis."""
    first = extents_of(start, "start")
    return one(
        "tim.Slice",
        [x],
        dims=len(first),
        start=first,
        length=extents_of(length, "length"),
    )


def pad(
    x: Operand, front: Sequence[int], back: Sequence[int], value: float = 0.0
) -> Value:
    """With this many elements of `value` before and behind each axis."""
    return one(
        "tim.PadV2",
        [x],
        front_size=extents_of(front, "front"),
        back_size=extents_of(back, "back"),
        const_val=float(value),
    )


def gather(x: Operand, indices: Operand, axis: int = 0) -> Value:
    """Slices of x along an axis by their numbers."""
    return one("tim.Gather", [x, indices], axis=axis_of(axis))


def gather_nd(x: Operand, indices: Operand) -> Value:
    """As the operator documents it; indices count axes as it does."""
    return one("tim.GatherNd", [x, indices])


def scatter_nd(indices: Operand, updates: Operand, shape: Any) -> Value:
    """As the operator documents it; indices count axes as it does."""
    return one("tim.ScatterND", [indices, updates], shape=extents_of(shape, "shape"))


def embedding_lookup(indices: Operand, table: Operand) -> Value:
    """Rows of a table (V, D) by their numbers."""
    return one("tim.EmbeddingLookup", [indices, table])


def one_hot(
    indices: Operand, depth: int, on: float = 1.0, off: float = 0.0, axis: int = -1
) -> Value:
    """`on` at the index along a new axis with `depth` elements, else `off`."""
    if isinstance(depth, bool) or not isinstance(depth, int):
        raise ArgumentError(f"depth is {depth!r}, expected an integer")
    # -1 has a meaning of its own there.
    place = axis_of(axis)
    if place < 0:
        place += (indices.ndim if isinstance(indices, Value) else np.ndim(indices)) + 1
    return one(
        "tim.OneHot",
        [indices],
        depth=depth,
        on_value=float(on),
        off_value=float(off),
        axis=place,
    )
