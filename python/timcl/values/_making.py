"""Values of arrays, numbers, and memory that others share."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core, arrays
from ..errors import ArgumentError
from ..tensors import Quantization
from ._types import PACKED, Spec, bfloat16_bits, memory_shape, numpy_type, type_name
from ._value import Array, Value

# Ways in which arrays become values, see python/src/values_array.cc.
COPY, CONSTANT, SHARE = range(3)


def default_type(value: Any, array: Array) -> str:
    if hasattr(value, "dtype"):
        return "float32" if array.dtype == np.float64 else type_name(array.dtype)
    if array.dtype.kind == "f":
        return "float32"
    if array.dtype.kind in "iu":
        limits = np.iinfo(np.int32)
        fits = array.size == 0 or (
            int(array.min()) >= limits.min and int(array.max()) <= limits.max
        )
        return "int32" if fits else type_name(array.dtype)
    return type_name(array.dtype)


def memory(
    data: Any, dtype: Any, shape: Any, quantization: Quantization | None, what: str
) -> tuple[Array, Spec]:
    """Dense memory of the host, and what it means."""
    array = arrays.as_array(data, what)
    name = default_type(data, array) if dtype is None else type_name(dtype)
    wanted = numpy_type(name)
    if name == "bfloat16" and array.dtype.kind in "iuf" and array.dtype != wanted:
        array = bfloat16_bits(array)
    elif array.dtype != wanted:
        if array.dtype == np.float64 and name == "float32":
            array = array.astype(np.float32)
        elif hasattr(data, "dtype") or not arrays._keeps_values(array, wanted):
            raise ArgumentError(
                f"{what} has elements of type {array.dtype}, expected {name}; "
                f"convert it by astype()"
            )
        else:
            array = array.astype(wanted)
    if shape is None:
        shape = array.shape
        if name in PACKED and shape:
            shape = (*shape[:-1], 2 * shape[-1])
    spec = Spec(tuple(shape), name, quantization)
    if memory_shape(name, tuple(shape)) != array.shape:
        raise ArgumentError(
            f"{what} is an array of shape {list(array.shape)}, which does not hold "
            f"{spec}"
        )
    return arrays.dense(array), spec


def from_array(array: Array, spec: Spec, way: int) -> Value:
    return Value(_core.Value.from_array(spec._to_core(), array, way))


def value(
    data: Any,
    dtype: Any = None,
    *,
    shape: Any = None,
    quantization: Quantization | None = None,
    device: Any = None,
) -> Value:
    """A value of a copy of `data`: an array, another library's array by DLPack,
    a number, or nested lists of numbers.

    Numbers and lists become float32, int32 (int64 where they do not fit) or bool,
    or `dtype`, where it keeps what they are. Arrays keep their element type, but
    float64 becomes float32 unless `dtype` asks for it; nothing else is converted.
    `shape`: of int4 and uint4, whose arrays have two elements in each byte.
    """
    if isinstance(data, Value):
        made = data
        if dtype is not None and made.dtype != type_name(dtype):
            raise ArgumentError(f"{made!r} is no {type_name(dtype)}: use astype()")
    else:
        array, spec = memory(data, dtype, shape, quantization, "the value")
        made = from_array(array, spec, COPY)
    return made if device is None else made.to(device)


def constant(
    data: Any,
    dtype: Any = None,
    *,
    shape: Any = None,
    quantization: Quantization | None = None,
) -> Value:
    """The same, and kernels know its content: weights are packed once, and graphs
    that are captured have it as a constant."""
    if isinstance(data, Value):
        described = data.spec
        array, dtype, shape = data._view(), described.dtype, described.shape
        quantization = quantization or described.quantization
    else:
        array = data
    held, spec = memory(array, dtype, shape, quantization, "the constant")
    return from_array(held, spec, CONSTANT)


def share(
    array: Any,
    dtype: Any = None,
    *,
    shape: Any = None,
    quantization: Quantization | None = None,
) -> Value:
    """A value on the array's own memory, which must stay as it is as long as the
    value or anything that is computed from it is in use."""
    held = arrays.as_array(array, "the array")
    if not hasattr(array, "dtype") and not hasattr(array, "__dlpack__"):
        raise ArgumentError(f"{type(array).__name__} has no memory to share")
    name = type_name(held.dtype) if dtype is None else type_name(dtype)
    if held.dtype != numpy_type(name) or arrays.dense(held) is not held:
        raise ArgumentError(
            f"the array of {held.dtype} cannot be shared: its elements are not "
            f"{name}, or do not lie in one piece in C's order; value() copies it"
        )
    made, spec = memory(held, name, shape, quantization, "the array")
    return from_array(made, spec, SHARE)


def from_dlpack(array: Any) -> Value:
    """A value on the memory of another library's array of the host, as share();
    a copy where its elements do not lie in one piece in C's order."""
    if not hasattr(array, "__dlpack__"):
        raise ArgumentError(f"{type(array).__name__} has no __dlpack__")
    if isinstance(array, Value):
        return array
    held = arrays.as_array(array, "the array")
    if arrays.dense(held) is held:
        return share(held)
    return value(held, held.dtype)
