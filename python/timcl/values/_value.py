"""Values: arrays that never change."""

from __future__ import annotations

import operator
from typing import Any, Iterator

import numpy as np

from .. import _core
from ..errors import ArgumentError
from ..tensors import Quantization
from . import _modes
from ._types import (
    PACKED,
    Spec,
    known_shape,
    library_type,
    memory_shape,
    numpy_type,
    shape_text,
)

Array = np.ndarray[Any, Any]


class Value:
    """A tensor that never changes: made by value(), by functions of values, by
    runs. It may be computed later, on any device, in any layout; numpy() waits
    for it and brings it here.

    Operators are those of NumPy, broadcasting too. The other operand is a Value,
    an array of the same element type, or a number, which takes that type.
    """

    __slots__ = ("_handle", "__weakref__")

    # NumPy leaves operators of arrays with values to this class.
    __array_ufunc__ = None

    def __init__(self, handle: _core.Value) -> None:
        self._handle = handle

    @property
    def spec(self) -> Spec:
        """What is known of it now; never waits."""
        return Spec._from_core(self._handle.spec)

    @property
    def shape(self) -> Any:
        """A tuple in NumPy's order; see Spec.shape for what is not known."""
        return self.spec.shape

    @property
    def dtype(self) -> str | None:
        """Element type, "float32"."""
        return self._handle.spec[0] or None

    @property
    def ndim(self) -> int:
        return len(self._ranked())

    @property
    def size(self) -> int:
        """How many elements it has."""
        size = 1
        for extent in self._ranked():
            if not isinstance(extent, int):
                raise ArgumentError(f"the shape {shape_text(self.shape)} is not known")
            size *= extent
        return size

    @property
    def quantization(self) -> Quantization | None:
        return self.spec.quantization

    @property
    def device(self) -> "_modes.Device":
        """Where it is."""
        return _modes.Device(self._handle.device)

    @property
    def symbolic(self) -> bool:
        """Whether it belongs to a graph that is being made and has no elements."""
        return bool(self._handle.symbolic)

    @property
    def pending(self) -> bool:
        """Whether it was recorded in lazy mode and is not computed yet."""
        return bool(self._handle.pending)

    @property
    def ready(self) -> bool:
        """Whether numpy() would not wait for work."""
        return bool(self._handle.ready)

    def wait(self) -> "Value":
        """Blocks until it is computed; RunError where that failed."""
        self._handle.wait()
        return self

    @property
    def event(self) -> "_modes.Event":
        """The work that computes it."""
        return _modes.Event(self._handle.event())

    def numpy(self, out: Any = None) -> Array:
        """The elements in a new array, or in `out`, which is returned; waits for
        them. int4 and uint4 are arrays of uint8 with two elements in each, bfloat16
        is its bits."""
        view = self._view()
        if out is None:
            return np.array(view, order="C", copy=True)
        if not isinstance(out, np.ndarray):
            raise ArgumentError(f"out is a {type(out).__name__}, expected an array")
        if out.shape != view.shape or out.dtype != view.dtype:
            raise ArgumentError(
                f"out is {out.dtype} {list(out.shape)}, and the elements are "
                f"{view.dtype} {list(view.shape)}"
            )
        if not out.flags.writeable:
            raise ArgumentError("out: the array may only be read")
        np.copyto(out, view)
        return out

    def item(self) -> Any:
        """The only element as a number."""
        return self._element().item()

    def tolist(self) -> Any:
        return self._view().tolist()

    def to(self, device: "_modes.DeviceLike") -> "Value":
        """The same value on that device."""
        return _modes.Device(device).put(self)

    def named(self, name: str) -> "Value":
        """The same value with a name for messages and dumps."""
        return Value(self._handle.named(name))

    def astype(self, dtype: Any) -> "Value":
        """Elements of another type; floats are cut at the point."""
        return _operands.one("tim.Cast", [self], output_type=library_type(dtype))

    def reshape(self, *shape: Any) -> "Value":
        """The same elements in another shape; one extent may be -1."""
        extents = known_shape(shape[0] if len(shape) == 1 else shape)
        return _operands.reshaped(self, extents)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        view = self._view()
        if dtype is not None and np.dtype(dtype) != view.dtype:
            if copy is False:
                raise ValueError(f"elements of {view.dtype} are no {dtype}: copy them")
            return view.astype(dtype)
        return view.copy() if copy else view

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if stream is not None:
            raise BufferError("values go by DLPack on the host, which has no streams")
        if self.dtype in ("bfloat16", *PACKED):
            raise BufferError(f"NumPy has no {self.dtype} that could go by DLPack")
        # A copy: its taker may write to it.
        array = self._view() if copy is False else self.numpy()
        if max_version is None and dl_device is None:
            return array.__dlpack__()
        return array.__dlpack__(max_version=max_version, dl_device=dl_device)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __repr__(self) -> str:
        state = "symbolic " if self.symbolic else "pending " if self.pending else ""
        return f"<{state}timcl.values.Value {self.spec}>"

    def __str__(self) -> str:
        return repr(self) if self.symbolic else str(self._view())

    def __deepcopy__(self, memory: Any) -> "Value":
        return self

    def __float__(self) -> float:
        return float(self._element())

    def __int__(self) -> int:
        return int(self._element())

    def __index__(self) -> int:
        return operator.index(self._element()[()])

    def __bool__(self) -> bool:
        return bool(self._element())

    def __len__(self) -> int:
        shape = self._ranked()
        if not shape:
            raise TypeError("a value of rank 0 has no length")
        if not isinstance(shape[0], int):
            raise ArgumentError(f"axis 0 of {shape_text(shape)} is not known")
        return shape[0]

    def __iter__(self) -> Iterator["Value"]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> "Value":
        from . import _indexing

        return _indexing.get(self, key)

    # Operators and comparisons, element by element; as NumPy's arrays, values have
    # no hash.
    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> "Value":
        return _two("tim.Add", self, other)

    def __radd__(self, other: Any) -> "Value":
        return _two("tim.Add", other, self, self)

    def __sub__(self, other: Any) -> "Value":
        return _two("tim.Sub", self, other)

    def __rsub__(self, other: Any) -> "Value":
        return _two("tim.Sub", other, self, self)

    def __mul__(self, other: Any) -> "Value":
        return _two("tim.Multiply", self, other)

    def __rmul__(self, other: Any) -> "Value":
        return _two("tim.Multiply", other, self, self)

    def __truediv__(self, other: Any) -> "Value":
        return _two("tim.Div", self, other)

    def __rtruediv__(self, other: Any) -> "Value":
        return _two("tim.Div", other, self, self)

    def __floordiv__(self, other: Any) -> "Value":
        return _two("tim.FloorDiv", self, other)

    def __rfloordiv__(self, other: Any) -> "Value":
        return _two("tim.FloorDiv", other, self, self)

    def __mod__(self, other: Any) -> "Value":
        return _two(_operands.remainder, self, other)

    def __rmod__(self, other: Any) -> "Value":
        return _two(_operands.remainder, other, self, self)

    def __pow__(self, other: Any) -> "Value":
        return _two("tim.Pow", self, other)

    def __rpow__(self, other: Any) -> "Value":
        return _two("tim.Pow", other, self, self)

    def __matmul__(self, other: Any) -> "Value":
        return _two("tim.Matmul", self, other)

    def __rmatmul__(self, other: Any) -> "Value":
        return _two("tim.Matmul", other, self, self)

    def __and__(self, other: Any) -> "Value":
        return _two("tim.LogicalAnd", self, other)

    def __rand__(self, other: Any) -> "Value":
        return _two("tim.LogicalAnd", other, self, self)

    def __or__(self, other: Any) -> "Value":
        return _two("tim.LogicalOr", self, other)

    def __ror__(self, other: Any) -> "Value":
        return _two("tim.LogicalOr", other, self, self)

    def __eq__(self, other: Any) -> "Value":  # type: ignore[override]
        return _two("tim.Equal", self, other)

    def __ne__(self, other: Any) -> "Value":  # type: ignore[override]
        return _two("tim.NotEqual", self, other)

    def __lt__(self, other: Any) -> "Value":
        return _two("tim.Less", self, other)

    def __le__(self, other: Any) -> "Value":
        return _two("tim.LessOrEqual", self, other)

    def __gt__(self, other: Any) -> "Value":
        return _two("tim.Greater", self, other)

    def __ge__(self, other: Any) -> "Value":
        return _two("tim.GreaterOrEqual", self, other)

    def __neg__(self) -> "Value":
        return _operands.one("tim.Neg", [self])

    def __abs__(self) -> "Value":
        return _operands.one("tim.Abs", [self])

    def __invert__(self) -> "Value":
        return _operands.one("tim.LogicalNot", [self])

    def _view(self) -> Array:
        """An array on memory of the value, which may only be read."""
        raw = self._handle.bytes()
        name, shape, _ = self._handle.spec
        return raw.view(numpy_type(name)).reshape(memory_shape(name, shape))

    def _element(self) -> Array:
        view = self._view()
        if view.size != 1 or self.dtype in PACKED:
            raise ArgumentError(f"{self!r} is not one number")
        if self.dtype == "bfloat16":
            view = (view.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return view.reshape(())

    def _ranked(self) -> tuple[Any, ...]:
        shape = self.shape
        if shape is None:
            raise ArgumentError(f"the rank of {self!r} is not known")
        return tuple(shape)


def _two(op: Any, a: Any, b: Any, own: Any = None) -> Value:
    """An operator, by its name or a function; NotImplemented where the other operand
    is none. `own`: which of them is a value, the first one by itself."""
    other = a if own is not None else b
    if not _operands.is_operand(other):
        return NotImplemented  # type: ignore[no-any-return]
    return op(a, b) if callable(op) else _operands.elementwise(op, a, b)


# They need each other.
from . import _operands  # noqa: E402
