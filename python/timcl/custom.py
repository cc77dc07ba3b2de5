"""Custom operators: kernels of OpenCL C with functions of Python."""

from __future__ import annotations

import ctypes
import math
import re
from typing import Any, Callable, Sequence, Union

import numpy as np

from . import _core
from .arrays import as_array, dtype_of, memory_shape, type_name
from .errors import ArgumentError

Shape = tuple[int, ...]
Sizes = Union[int, Sequence[int]]

_KERNEL = re.compile(
    r"\b(?:__)?kernel\b(?:\s*__attribute__\s*\(\(.*?\)\)\s*\)?)*\s+void\s+(\w+)", re.S
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_LANES = (2, 3, 4, 8, 16)


class CustomOp:
    """An operator with a kernel of its own.

        twice = timcl.CustomOp("Twice", '''
        __kernel void twice(__global const float* x, __global float* y, float by) {
          const size_t i = get_global_id(0);
          y[i] = by * x[i];
        }''', scalars=(2.0,), host=lambda x: 2 * x)
        y = graph.op(twice, [x])

    The kernel's parameters are the inputs, the outputs, then the scalars;
    docs/custom_operators.md says which types they have.  The functions below
    take shapes in NumPy's order, those of the inputs and then, but for
    `output_shapes`, of the outputs; None for an optional input that is absent.

    `name`: letters, digits and _; messages call the operator "user.<name>".
    `inputs`, `outputs`: how many there are.
    `scalars`: numbers, or tuples of 2, 3, 4, 8 or 16 of them for vectors; or a
    function of the shapes.  An int goes to integer parameters, a float to half,
    float or double.  graph.op(..., scalars=...) gives others.
    `output_shapes`: a function that returns the shape of the output, or a list
    of shapes; without it they are that of input 0.
    `output_dtypes`: element types of the outputs, where they are not that of
    input 0 and graph.op() gives none.
    `global_size`: work-items, an int or up to 3, or a function; without it as
    many as output 0 has elements.  `local_size`: of a work-group, likewise;
    without it the runtime chooses.
    `host`: a function of arrays that returns the output, or a tuple of them: the
    reference, by which the operator runs where there is no OpenCL device.
    `function`: the kernel's name, where the text has several.
    `build_options`: for the OpenCL compiler, a text or a function of the shapes.
    `optional_inputs`: numbers of inputs that may be absent.
    """

    def __init__(
        self,
        name: str,
        kernel: str,
        inputs: int = 1,
        outputs: int = 1,
        *,
        scalars: Any = (),
        output_shapes: Callable[..., Any] | None = None,
        output_dtypes: Any = None,
        global_size: Sizes | Callable[..., Sizes] | None = None,
        local_size: Sizes | Callable[..., Sizes] | None = None,
        host: Callable[..., Any] | None = None,
        function: str | None = None,
        build_options: str | Callable[..., str] = "",
        optional_inputs: Sequence[int] = (),
    ) -> None:
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name):
            raise ArgumentError(
                f"a custom operator's name is {name!r}, expected letters, digits, _"
            )
        self.name = name
        self.inputs = self._count(inputs, "inputs")
        self.outputs = self._count(outputs, "outputs")
        if not isinstance(kernel, str):
            raise ArgumentError(
                f"{self}: the kernel is {type(kernel).__name__}, not text"
            )
        self.kernel = kernel
        self.function = self._function(function)
        self.scalars = scalars if callable(scalars) else self._scalars(scalars)
        self.optional_inputs = tuple(int(number) for number in optional_inputs)
        for number in self.optional_inputs:
            if not 0 <= number < self.inputs:
                raise ArgumentError(
                    f"{self}: there is no input {number} to be optional"
                )
        for what, value in (("output_shapes", output_shapes), ("host", host)):
            if value is not None and not callable(value):
                raise ArgumentError(f"{self}: {what} is {value!r}, expected a function")
        self.output_shapes = output_shapes
        self.output_dtypes = self._dtypes(output_dtypes)
        self.global_size = self._checked_sizes(global_size, "global_size")
        self.local_size = self._checked_sizes(local_size, "local_size")
        self.host = host
        self.build_options = build_options

    def __str__(self) -> str:
        return f"custom operator {self.name}"

    def _count(self, count: Any, what: str) -> int:
        if not isinstance(count, int) or not 1 <= count <= 64:
            raise ArgumentError(f"{self}: {what} is {count!r}, expected 1 to 64")
        return count

    def _function(self, function: str | None) -> str:
        found: list[str] = _KERNEL.findall(_COMMENT.sub(" ", self.kernel))
        if function is None:
            # A name that macros make is for the compiler to find.
            if len(found) != 1:
                listed = ", ".join(found) or "none"
                raise ArgumentError(
                    f"{self}: the text has {len(found)} kernels ({listed}); "
                    f"name one by function="
                )
            return found[0]
        return function

    def _dtypes(self, dtypes: Any) -> list[str | None]:
        if dtypes is None:
            return [None] * self.outputs
        if not isinstance(dtypes, (list, tuple)):
            dtypes = [dtypes] * self.outputs
        if len(dtypes) != self.outputs:
            raise ArgumentError(
                f"{self}: output_dtypes has {len(dtypes)} entries for "
                f"{self.outputs} outputs"
            )
        return [None if each is None else type_name(each) for each in dtypes]

    def _scalars(self, scalars: Any) -> tuple[Any, ...]:
        if not isinstance(scalars, (list, tuple)):
            raise ArgumentError(f"{self}: scalars are {scalars!r}, expected a tuple")
        return tuple(self._scalar(each, i) for i, each in enumerate(scalars))

    def _scalar(self, value: Any, number: int) -> Any:
        if isinstance(value, (list, tuple, np.ndarray)) and np.ndim(value) == 1:
            lanes = tuple(self._scalar(each, number) for each in value)
            kinds = {type(lane) for lane in lanes}
            if len(lanes) not in _LANES or len(kinds) != 1 or bool in kinds:
                raise ArgumentError(
                    f"{self}: scalar {number} is {value!r}, expected 2, 3, 4, 8 or 16 "
                    f"numbers of one type"
                )
            return lanes
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise ArgumentError(
                f"{self}: scalar {number} does not fit 64 bits: {value}"
            )
        if not isinstance(value, (bool, int, float)):
            raise ArgumentError(
                f"{self}: scalar {number} is {value!r}, expected a number"
            )
        return value

    def _checked_sizes(self, sizes: Any, what: str) -> Any:
        return sizes if sizes is None or callable(sizes) else self._sizes(sizes, what)

    def _sizes(self, sizes: Any, what: str) -> tuple[int, ...]:
        try:
            made = tuple(int(size) for size in np.atleast_1d(sizes))
        except (TypeError, ValueError) as error:
            raise ArgumentError(
                f"{self}: {what} is {sizes!r}, expected up to 3 integers"
            ) from error
        if not 1 <= len(made) <= 3 or any(size < 1 for size in made):
            raise ArgumentError(
                f"{self}: {what} is {sizes!r}, expected 1 to 3 integers of at least 1"
            )
        return made

    def _add(
        self,
        core: _core.Graph,
        inputs: list[_core.Tensor],
        outputs: list[_core.Tensor],
        name: str,
        attributes: dict[str, Any],
    ) -> None:
        scalars = attributes.pop("scalars", self.scalars)
        if attributes:
            raise ArgumentError(
                f"{self} has no attribute '{next(iter(attributes))}'; it has scalars"
            )
        while len(inputs) < self.inputs and len(inputs) in self.optional_inputs:
            inputs.append(core.place_holder())
        for what, count, given in (
            ("input", self.inputs, inputs),
            ("output", self.outputs, outputs),
        ):
            if len(given) != count:
                raise ArgumentError(
                    f"{self}: {len(given)} {what}s are given, expected {count}"
                )
        chosen = scalars if callable(scalars) else self._scalars(scalars)
        core.add_custom(
            self.name,
            _Hooks(self, chosen),
            list(self.optional_inputs),
            inputs,
            outputs,
            name,
        )


class _Hooks:
    """What _core calls, see python/src/custom_operator.h.  A spec is (type,
    shape, quantization), None of an absent input."""

    def __init__(self, op: CustomOp, scalars: Any) -> None:
        self._op = op
        self._chosen = scalars

    def source(self) -> str:
        return self._op.kernel

    def has_host(self) -> bool:
        return self._op.host is not None

    def types(self, inputs: list[Any]) -> list[str | None]:
        return self._op.output_dtypes

    def shapes(self, inputs: list[Any]) -> list[Shape]:
        op = self._op
        shapes = self._shapes_of(inputs)
        if op.output_shapes is None:
            if shapes[0] is None:
                raise ArgumentError(f"{op}: input 0 is absent: give output_shapes")
            return [shapes[0]] * op.outputs
        made = op.output_shapes(*shapes)
        if op.outputs == 1 and self._is_shape(made):
            made = [made]
        if not isinstance(made, (list, tuple)) or len(made) != op.outputs:
            raise ArgumentError(
                f"{op}: output_shapes returned {made!r}, expected "
                + ("a shape" if op.outputs == 1 else f"a list of {op.outputs} shapes")
            )
        for shape in made:
            if not self._is_shape(shape) or any(extent < 1 for extent in shape):
                raise ArgumentError(
                    f"{op}: output_shapes returned {shape!r}, expected extents of at "
                    f"least 1"
                )
        return [tuple(int(extent) for extent in shape) for shape in made]

    def setup(self, inputs: list[Any], outputs: list[Any]) -> tuple[str, str, Any]:
        op = self._op
        shapes = self._shapes_of(inputs + outputs)
        scalars = self._chosen
        if callable(scalars):
            made = scalars(*shapes)
            scalars = op._scalars(made if isinstance(made, (list, tuple)) else (made,))
        options = op.build_options
        if callable(options):
            options = options(*shapes)
        if not isinstance(options, str):
            raise ArgumentError(f"{op}: build_options are {options!r}, expected a text")
        return op.function, options, scalars

    def enqueue(self, inputs: list[Any], outputs: list[Any]) -> tuple[Any, Any]:
        op = self._op
        shapes = self._shapes_of(inputs + outputs)
        global_size = op.global_size
        if global_size is None:
            global_size = math.prod(shapes[op.inputs] or ())
        elif callable(global_size):
            global_size = global_size(*shapes)
        sizes = op._sizes(global_size, "global_size")
        local_size = op.local_size
        if local_size is None:
            return sizes, (0,) * len(sizes)
        if callable(local_size):
            local_size = local_size(*shapes)
        locals_made = op._sizes(local_size, "local_size")
        if len(locals_made) != len(sizes):
            raise ArgumentError(
                f"{op}: local_size has {len(locals_made)} numbers, global_size "
                f"{len(sizes)}"
            )
        return sizes, locals_made

    def host(self, inputs: list[Any], outputs: list[Any]) -> None:
        op = self._op
        assert op.host is not None
        # Copies: whoever keeps an array must not read memory that is gone.
        read = [None if each is None else _view(each).copy() for each in inputs]
        made = op.host(*read)
        results = made if isinstance(made, (list, tuple)) else (made,)
        if len(results) != op.outputs:
            raise ArgumentError(
                f"{op}: host returned {len(results)} arrays, expected {op.outputs}"
            )
        for number, (result, output) in enumerate(zip(results, outputs)):
            target = _view(output)
            array = as_array(result, f"{op}: result {number} of host")
            if array.shape != target.shape:
                raise ArgumentError(
                    f"{op}: result {number} of host has shape {list(array.shape)}, "
                    f"expected {list(target.shape)}"
                )
            if array.dtype != target.dtype and not (
                array.dtype.kind == target.dtype.kind == "f"
            ):
                raise ArgumentError(
                    f"{op}: result {number} of host has elements of type {array.dtype}, "
                    f"expected {target.dtype}"
                )
            np.copyto(target, array, casting="same_kind")

    @staticmethod
    def _shapes_of(specs: list[Any]) -> list[Shape | None]:
        return [None if spec is None else tuple(spec[1]) for spec in specs]

    @staticmethod
    def _is_shape(value: Any) -> bool:
        return isinstance(value, (list, tuple)) and all(
            isinstance(extent, (int, np.integer)) for extent in value
        )


def _view(memory: Any) -> np.ndarray[Any, Any]:
    """An array on (address, bytes, spec), for as long as the memory is there."""
    address, size, (name, shape, _) = memory
    buffer = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(buffer, dtype_of(name)).reshape(
        memory_shape(name, tuple(shape))
    )
