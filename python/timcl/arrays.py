"""NumPy arrays and other arrays as the memory of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import ArgumentError

ALIGNMENT = 64
"""Bytes to which memory is aligned that devices use without a copy."""

_PACKED = ("int4", "uint4")
_DTYPES = {
    name: np.dtype(name)
    for name in (
        "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
        "float16", "float32", "bool",
    )
}  # fmt: skip


def type_name(dtype: Any, others: tuple[str, ...] = ()) -> str:
    """The library's name of an element type: of "int4", "float32" or whatever
    NumPy takes for one. `others`: types that the message names, too."""
    if isinstance(dtype, str) and dtype in _PACKED:
        return dtype
    try:
        name = str(np.dtype(dtype).name)
    except TypeError as error:
        raise ArgumentError(f"{dtype!r} is no element type") from error
    if name not in _DTYPES:
        known = ", ".join([*_DTYPES, *others, *_PACKED])
        raise ArgumentError(
            f"tensors have no elements of type {name}; there are {known}"
        )
    return name


def dtype_of(name: str) -> np.dtype[Any]:
    """NumPy's type; two elements of "int4" and "uint4" are one uint8."""
    return np.dtype(np.uint8) if name in _PACKED else _DTYPES[name]


def memory_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the array that holds such a tensor."""
    if name in _PACKED and shape:
        return (*shape[:-1], (shape[-1] + 1) // 2)
    return shape


def as_array(value: Any, what: str) -> np.ndarray[Any, Any]:
    """`value` as an array, without a copy where it has memory that the host
    reaches: NumPy's arrays, those with __dlpack__ (PyTorch, CuPy on the host,
    JAX), buffers, numbers and nested lists of them."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__") and not isinstance(value, np.generic):
        try:
            return np.from_dlpack(value)
        except Exception as error:
            raise ArgumentError(
                f"{what}: the array of type {type(value).__name__} does not come "
                f"to the host by DLPack ({error}); copy it there before"
            ) from error
    try:
        array = np.asarray(value)
    except Exception as error:
        raise ArgumentError(f"{what}: no array can be made of it ({error})") from error
    if array.dtype == object:
        raise ArgumentError(f"{what}: no array of numbers can be made of it")
    return array


def dense(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same elements in one piece, in C's order, at their type's alignment;
    `array` itself where it is so."""
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.require(array, requirements=("C", "A"))


def fitting(
    value: Any, what: str, name: str, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """`value` as dense memory of a tensor.  Numbers and lists become the
    tensor's type where they keep their values; arrays must have it."""
    array = as_array(value, what)
    wanted = dtype_of(name)
    if array.dtype != wanted:
        array = _converted(value, array, what, wanted)
    expected = memory_shape(name, shape)
    if array.shape != expected:
        raise ArgumentError(
            f"{what} has shape {_text(array.shape)}, expected {_text(expected)}"
        )
    return dense(array)


def _converted(
    value: Any, array: np.ndarray[Any, Any], what: str, wanted: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    has_type = hasattr(value, "dtype")
    if has_type or not _keeps_values(array, wanted):
        raise ArgumentError(
            f"{what} has elements of type {array.dtype}, expected {wanted}; "
            f"convert it by astype()"
        )
    return array.astype(wanted)


def _keeps_values(array: np.ndarray[Any, Any], wanted: np.dtype[Any]) -> bool:
    if wanted.kind == "f":
        return bool(array.dtype.kind in "iuf")
    if array.dtype.kind not in "iub" or wanted.kind == "b":
        return bool(array.dtype.kind == wanted.kind)
    limits = np.iinfo(wanted)
    return bool(
        array.size == 0 or (array.min() >= limits.min and array.max() <= limits.max)
    )


def _text(shape: tuple[int, ...]) -> str:
    return "[" + ", ".join(str(extent) for extent in shape) + "]"


def empty(name: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """New memory of a tensor, aligned so that devices write to it in place."""
    dtype = dtype_of(name)
    extents = memory_shape(name, shape)
    count = 1
    for extent in extents:
        count *= extent
    size = count * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(extents)


def writable(
    value: Any, what: str, name: str, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """`value` as memory that a run writes to: no copy can stand for it."""
    if not isinstance(value, np.ndarray) and not hasattr(value, "__dlpack__"):
        raise ArgumentError(
            f"{what}: a run writes to arrays, not to {type(value).__name__}"
        )
    array = as_array(value, what)
    made = fitting(array, what, name, shape)
    if made is not array:
        raise ArgumentError(
            f"{what}: its elements do not lie in one piece in C's order"
        )
    if not array.flags.writeable:
        raise ArgumentError(f"{what}: the array may only be read")
    return array
