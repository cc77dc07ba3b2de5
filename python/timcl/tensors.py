"""Descriptions of tensors: quantization, ports, and values of graphs."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import numpy as np

from . import _core
from .arrays import as_array, dtype_of, memory_shape
from .errors import ArgumentError


@dataclasses.dataclass(frozen=True)
class Quantization:
    """How codes of an integer tensor stand for real values:
    real = (code - zero_point) * scale.

    `scale` and `zero_point` are numbers, or with `axis` (in NumPy's order) a
    number for each index of that axis.  With `fraction_bits` n:
    real = code * 2**-n, and the others do not count.  Scales are rounded to
    float32.
    """

    scale: float | tuple[float, ...] = 1.0
    zero_point: int | tuple[int, ...] = 0
    axis: int | None = None
    fraction_bits: int | None = None

    def __post_init__(self) -> None:
        for field, kind in (("scale", np.float32), ("zero_point", np.int32)):
            value = getattr(self, field)
            try:
                numbers = np.asarray(value, kind)
            except (TypeError, ValueError, OverflowError) as error:
                raise ArgumentError(
                    f"{field} is {value!r}, expected numbers"
                ) from error
            # Scales are numbers of float32, which they are told as.
            plain = (
                numbers.item() if numbers.ndim == 0 else tuple(numbers.ravel().tolist())
            )
            object.__setattr__(self, field, plain)
        if self.axis is None and not (
            isinstance(self.scale, (int, float))
            and isinstance(self.zero_point, (int, float))
        ):
            raise ArgumentError("a scale or zero point per channel needs its axis")

    def _numbers(self, rank: int) -> tuple[Any, Any]:
        """Scale and zero point, shaped to go with arrays of `rank` axes."""
        if self.fraction_bits is not None:
            return 2.0**-self.fraction_bits, 0
        if self.axis is None:
            return self.scale, self.zero_point
        shape = [1] * rank
        shape[self.axis] = -1
        return (
            np.asarray(self.scale, np.float64).reshape(shape),
            np.asarray(self.zero_point, np.int64).reshape(
                shape if np.ndim(self.zero_point) else [1] * rank
            ),
        )

    def quantize(self, values: Any, dtype: Any) -> np.ndarray[Any, Any]:
        """Codes of real values: rounded to even, saturated."""
        array = np.asarray(as_array(values, "values"), np.float64)
        scale, zero_point = self._numbers(array.ndim)
        limits = np.iinfo(dtype)
        codes = np.rint(array / scale) + zero_point
        return np.asarray(np.clip(codes, limits.min, limits.max), dtype)

    def dequantize(self, codes: Any) -> np.ndarray[Any, Any]:
        """Real values of codes, in float32."""
        array = as_array(codes, "codes")
        scale, zero_point = self._numbers(array.ndim)
        real = (array.astype(np.float64) - zero_point) * scale
        return np.asarray(real, np.float32)


def to_core(quantization: Quantization | None, rank: int) -> Any:
    """The tuple that _core takes."""
    if quantization is None:
        return None
    if not isinstance(quantization, Quantization):
        raise ArgumentError(
            f"quantization is a {type(quantization).__name__}, expected a "
            f"timcl.Quantization"
        )
    if quantization.fraction_bits is not None:
        return ("fixed_point", [], [], -1, quantization.fraction_bits)
    scales = np.atleast_1d(np.asarray(quantization.scale, np.float64))
    zero_points = np.atleast_1d(np.asarray(quantization.zero_point, np.int64))
    lists = ([float(s) for s in scales], [int(z) for z in zero_points])
    if quantization.axis is None:
        return ("tensor", *lists, -1, 0)
    if rank == 0:
        raise ArgumentError("a quantization per channel needs a tensor's shape")
    axis = quantization.axis + (rank if quantization.axis < 0 else 0)
    if not 0 <= axis < rank:
        raise ArgumentError(
            f"axis {quantization.axis} of a quantization is outside of rank {rank}"
        )
    kind = "asymmetric_channels" if zero_points.any() else "channels"
    return (kind, *lists, axis, 0)


def from_core(described: Any) -> Quantization | None:
    """Of the tuple that _core gives."""
    if described is None:
        return None
    kind, scales, zero_points, axis, fraction_bits = described
    if kind == "fixed_point":
        return Quantization(fraction_bits=fraction_bits)
    if kind == "tensor":
        zero_point = zero_points[0] if zero_points else 0
        return Quantization(scales[0] if scales else 1.0, zero_point)
    return Quantization(
        tuple(scales), tuple(zero_points) if any(zero_points) else 0, axis
    )


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output of a graph or model."""

    name: str
    dtype: str
    """Element type: "float32", "uint8", "bool"; "int4" and "uint4" are arrays
    of uint8, two elements in each."""
    shape: tuple[int, ...]
    """In NumPy's order, slowest-varying axis first."""
    quantization: Quantization | None = None

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Type of the elements of arrays for this port."""
        return dtype_of(self.dtype)

    @property
    def array_shape(self) -> tuple[int, ...]:
        """Shape of arrays for this port; another than `shape` for packed types."""
        return memory_shape(self.dtype, self.shape)

    def quantize(self, values: Any) -> np.ndarray[Any, Any]:
        """Codes of real values, in this port's type and quantization."""
        return self._quantization().quantize(values, self.numpy_dtype)

    def dequantize(self, codes: Any) -> np.ndarray[Any, Any]:
        """Real values of codes of this port."""
        return self._quantization().dequantize(codes)

    def _quantization(self) -> Quantization:
        if self.quantization is None:
            raise ArgumentError(f"port '{self.name}' is not quantized")
        return self.quantization

    def __str__(self) -> str:
        extents = ", ".join(str(extent) for extent in self.shape)
        return f"{self.name}: {self.dtype} [{extents}]"


class Tensor:
    """A value of a graph under construction, made by the graph's functions."""

    def __init__(self, handle: _core.Tensor, name: str = "", role: str = "") -> None:
        self._handle = handle
        self.name = name
        # "input", "constant", "state"; "" is what an operation makes.
        self._role = role

    @property
    def dtype(self) -> str:
        """Element type, "float32"."""
        return str(self._handle.spec[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """In NumPy's order; () where it is not known."""
        return tuple(self._handle.spec[1])

    @property
    def quantization(self) -> Quantization | None:
        """None where the elements are the values."""
        return from_core(self._handle.spec[2])

    def __repr__(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        return f"<timcl.Tensor{name} {self.dtype} {list(self.shape)}>"


def handles(tensors: Sequence[Tensor]) -> list[_core.Tensor]:
    """What _core knows the tensors by."""
    return [tensor._handle for tensor in tensors]
