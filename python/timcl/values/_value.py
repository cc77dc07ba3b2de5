"""Values, and calls of operators on them."""

from __future__ import annotations

import operator
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from .. import _core, arrays
from ..errors import ArgumentError
from ..tensors import Quantization
from . import _modes
from ._types import (
    PACKED,
    Spec,
    bfloat16_bits,
    core_specs,
    memory_shape,
    numpy_type,
    shape_text,
    type_name,
)

Array = np.ndarray[Any, Any]

# Ways in which arrays become values, see python/src/values_array.cc.
_COPY, _CONSTANT, _SHARE, _LITERAL = range(4)


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
        return one("tim.Cast", [self], output_type=library_type(dtype))

    def reshape(self, *shape: Any) -> "Value":
        """The same elements in another shape; one extent may be -1."""
        from . import _axis_operators

        return _axis_operators.reshape(self, shape[0] if len(shape) == 1 else shape)

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
        # Those who take it may write to it, so it is their own.
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


def _binary(op: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Value, other: Any) -> Any:
        return elementwise(op, self, other) if is_operand(other) else NotImplemented

    def backward(self: Value, other: Any) -> Any:
        return elementwise(op, other, self) if is_operand(other) else NotImplemented

    return forward, backward


for _name, _op in (
    ("add", "Add"), ("sub", "Sub"), ("mul", "Multiply"), ("truediv", "Div"),
    ("floordiv", "FloorDiv"), ("mod", "Mod"), ("pow", "Pow"),
    ("matmul", "Matmul"), ("and", "LogicalAnd"), ("or", "LogicalOr"),
):  # fmt: skip
    _forward, _backward = _binary("tim." + _op)
    setattr(Value, f"__{_name}__", _forward)
    setattr(Value, f"__r{_name}__", _backward)
for _name, _op in (
    ("eq", "Equal"), ("ne", "NotEqual"), ("lt", "Less"), ("le", "LessOrEqual"),
    ("gt", "Greater"), ("ge", "GreaterOrEqual"),
):  # fmt: skip
    setattr(Value, f"__{_name}__", _binary("tim." + _op)[0])
for _name, _op in (("neg", "Neg"), ("abs", "Abs"), ("invert", "LogicalNot")):
    setattr(
        Value, f"__{_name}__", lambda self, _op="tim." + _op: one(_op, [self])
    )
# Comparisons are element by element, as NumPy's, whose arrays have no hash.
Value.__hash__ = None  # type: ignore[assignment]


def library_type(dtype: Any) -> str:
    """The name that attributes of operators have for an element type."""
    name = type_name(dtype)
    return "bool8" if name == "bool" else name


def is_operand(value: Any) -> bool:
    """Whether operators take it beside a Value."""
    return isinstance(value, (Value, bool, int, float, np.ndarray, np.generic)) or (
        hasattr(value, "__dlpack__")
    )


def _default_type(value: Any, array: Array) -> str:
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


def _memory(
    data: Any, dtype: Any, shape: Any, quantization: Quantization | None, what: str
) -> tuple[Array, Spec]:
    """Dense memory of the host, and what it means."""
    array = arrays.as_array(data, what)
    name = _default_type(data, array) if dtype is None else type_name(dtype)
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


def _from_array(array: Array, spec: Spec, way: int) -> Value:
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
        array, spec = _memory(data, dtype, shape, quantization, "the value")
        made = _from_array(array, spec, _COPY)
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
    held, spec = _memory(array, dtype, shape, quantization, "the constant")
    return _from_array(held, spec, _CONSTANT)


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
    made, spec = _memory(held, name, shape, quantization, "the array")
    return _from_array(made, spec, _SHARE)


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


def handle(operand: Any, like: str | None = None, known: bool = False) -> Any:
    """What _core knows an operand by. `like`: the type of numbers; `known`: arrays
    become constants."""
    if operand is None:
        return None
    if isinstance(operand, Value):
        return operand._handle
    if isinstance(operand, (str, bytes)) or operand is ...:
        raise ArgumentError(f"{operand!r} is no operand: expected a value")
    is_number = isinstance(operand, (bool, int, float))
    array, spec = _memory(
        operand, like if is_number else None, None, None, "an operand"
    )
    way = _CONSTANT if known else _COPY
    if is_number and spec.dtype == "float32":
        way = _LITERAL
    return _core.Value.from_array(spec._to_core(), array, way)


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
        if each.dtype is None:
            raise ArgumentError(
                "a number takes the type of the other operand, which is not known "
                "here; write value(2, dtype)"
            )
        if each.quantization is not None:
            raise ArgumentError(
                f"{each!r} is quantized, and a number beside it has no quantization; "
                f"write value(code, dtype, quantization=...)"
            )
        return each.dtype
    for each in operands:
        if isinstance(each, (np.ndarray, np.generic)):
            return _default_type(each, np.asarray(each))
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
    if isinstance(given, int) and not -(2**63) <= given < 2**63:
        raise ArgumentError(f"attribute '{name}' is {given}, more than 64 bits")
    return getattr(given, "_graph_handle", given)


def plain_attributes(attributes: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(name, plain_attribute(name, each)) for name, each in attributes.items()]


def library_name(op: Any) -> str:
    """"tim.Relu" of "Relu"; names with a domain are as they are."""
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


def elementwise(op: str, *inputs: Any, **attributes: Any) -> Value:
    """The same, where numbers take the type of the other operands."""
    listed = list(attributes.items())
    return Value(_core.values_call(op, handles(inputs, True), listed, ())[0])


def tokens(after: Any) -> list[Any]:
    """Handles of what a call comes after."""
    return [each._handle for each in after]


__all__ = ["Value", "constant", "core_specs", "from_dlpack", "share", "value"]
