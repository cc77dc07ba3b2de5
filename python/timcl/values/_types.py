"""Element types, specs, and their forms at the border to the library."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any, Sequence, Union

import numpy as np

from .. import arrays
from ..errors import ArgumentError
from ..tensors import Quantization, from_core, to_core

PACKED = ("int4", "uint4")
_OTHERS: dict[str, np.dtype[Any]] = {
    "uint64": np.dtype("uint64"),
    "float64": np.dtype("float64"),
    # The bits: NumPy has no such type.
    "bfloat16": np.dtype("uint16"),
}


def type_name(dtype: Any) -> str:
    """The name of an element type: "int4", "bfloat16" or what NumPy takes."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        return dtype
    try:
        name = str(np.dtype(dtype).name)
    except TypeError:
        return arrays.type_name(dtype)
    return name if name in _OTHERS else arrays.type_name(dtype, tuple(_OTHERS))


def numpy_type(name: str) -> np.dtype[Any]:
    """NumPy's type of arrays with such elements."""
    found = _OTHERS.get(name)
    return arrays.dtype_of(name) if found is None else found


def library_type(dtype: Any) -> str:
    """The name that attributes of operators have for an element type."""
    name = type_name(dtype)
    return "bool8" if name == "bool" else name


@dataclasses.dataclass(frozen=True)
class AtMost:
    """An extent that is not known yet, and has a bound."""

    extent: int

    def __post_init__(self) -> None:
        if _integer(self.extent) is None or self.extent < 1:
            raise ArgumentError(f"a bound is {self.extent!r}, expected at least 1")


Extent = Union[int, None, AtMost]


def _integer(value: Any) -> int | None:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    return operator.index(value)


def known_shape(shape: Any, what: str = "a shape") -> tuple[int, ...]:
    """A shape of integers, which may be -1 where the operator says so."""
    if _integer(shape) is not None:
        shape = (shape,)
    try:
        extents = tuple(_integer(extent) for extent in shape)
    except TypeError as error:
        raise ArgumentError(f"{what} is {shape!r}, expected integers") from error
    if None in extents:
        raise ArgumentError(f"{what} is {shape!r}, expected integers")
    return extents  # type: ignore[return-value]


def _shape(shape: Any) -> tuple[Extent, ...]:
    if _integer(shape) is not None or isinstance(shape, AtMost):
        shape = (shape,)
    if isinstance(shape, str) or not hasattr(shape, "__iter__"):
        raise ArgumentError(f"{shape!r} is no shape")
    extents: list[Extent] = []
    for extent in shape:
        if extent is None or isinstance(extent, AtMost):
            extents.append(extent)
            continue
        number = _integer(extent)
        if number is None or number < 1:
            raise ArgumentError(
                f"the shape {tuple(shape)!r} has {extent!r} for an extent: expected "
                f"a number of at least 1, None where it is not known, or AtMost(n)"
            )
        extents.append(number)
    return tuple(extents)


@dataclasses.dataclass(frozen=True)
class Spec:
    """Facts about a value without its elements.

    `shape`: in NumPy's order, slowest-varying axis first; None where not even
    the rank is known. An extent is a number, None where it is not known, or
    AtMost(64).
    `dtype`: "float32", whatever NumPy takes for a type, "bfloat16", "int4",
    "uint4"; None where it is not known.
    """

    shape: tuple[Extent, ...] | None = None
    dtype: str | None = "float32"
    quantization: Quantization | None = None

    def __post_init__(self) -> None:
        if self.shape is not None:
            object.__setattr__(self, "shape", _shape(self.shape))
        if self.dtype is not None:
            object.__setattr__(self, "dtype", type_name(self.dtype))

    @property
    def is_static(self) -> bool:
        """Whether type, rank and every extent are known."""
        if self.dtype is None or self.shape is None:
            return False
        return all(isinstance(extent, int) for extent in self.shape)

    def __str__(self) -> str:
        return f"{self.dtype or '?'} {shape_text(self.shape)}"

    def _to_core(self) -> tuple[Any, Any, Any]:
        shape: tuple[Any, ...] | None = None
        if self.shape is not None:
            shape = tuple(
                -extent.extent if isinstance(extent, AtMost) else extent
                for extent in self.shape
            )
        rank = 0 if shape is None else len(shape)
        quantization = to_core(self.quantization, rank)
        if quantization is not None:
            kind, scales, zero_points, *rest = quantization
            quantization = (kind, tuple(scales), tuple(zero_points), *rest)
        return (self.dtype or "", shape, quantization)

    @staticmethod
    def _from_core(described: Any) -> "Spec":
        name, shape, quantization = described
        extents: tuple[Extent, ...] | None = None
        if shape is not None:
            extents = tuple(
                AtMost(-extent) if extent is not None and extent < 0 else extent
                for extent in shape
            )
        return Spec(extents, name or None, from_core(quantization))


SpecLike = Union[Spec, Sequence[Extent], None]


def shape_text(shape: tuple[Extent, ...] | None) -> str:
    """A shape as text: "[2, ?, ?<=64]", "[...]" for an unknown rank."""
    if shape is None:
        return "[...]"
    texts = []
    for extent in shape:
        if isinstance(extent, AtMost):
            texts.append(f"?<={extent.extent}")
        else:
            texts.append("?" if extent is None else str(extent))
    return "[" + ", ".join(texts) + "]"


def as_spec(described: Any) -> Spec:
    """A Spec; of a shape it is float32, None is all unknown but that."""
    if isinstance(described, Spec):
        return described
    if isinstance(described, str):
        raise ArgumentError(f"{described!r} is no spec: expected a Spec or a shape")
    if hasattr(described, "spec"):
        described = described.spec
        if isinstance(described, Spec):
            return described
    if hasattr(described, "dtype") and hasattr(described, "shape"):
        return Spec(described.shape, described.dtype)
    return Spec(described)


def core_specs(specs: Any) -> list[tuple[Any, Any, Any]]:
    """Specs as _core takes them."""
    if isinstance(specs, Spec) or not isinstance(specs, (list, tuple)):
        raise ArgumentError(f"specs are {specs!r}, expected a list with one per input")
    return [as_spec(each)._to_core() for each in specs]


def memory_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the array that holds such elements."""
    return arrays.memory_shape(name, shape)


def bfloat16_bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Bits of numbers in bfloat16, rounded to even."""
    with np.errstate(over="ignore"):
        single = np.asarray(array, np.float32)
    bits = single.view(np.uint32).astype(np.uint64)
    upper = bits >> np.uint64(16)
    rounded = (bits + 0x7FFF + (upper & np.uint64(1))) >> np.uint64(16)
    quiet = upper | np.uint64(0x40)
    return np.where(np.isnan(single), quiet, rounded).astype(np.uint16)
