"""Graphs built operator by operator."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _core, operators
from .arrays import as_array, empty, fitting, type_name
from .custom import CustomOp
from .devices import DeviceLike, number_of
from .errors import ArgumentError, GraphError
from .runnable import Runnable
from .tensors import Port, Quantization, Tensor, handles, to_core


def _shape(shape: Any, what: str) -> tuple[int, ...]:
    try:
        extents = tuple(int(extent) for extent in np.atleast_1d(shape))
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what}: {shape!r} is no shape") from error
    if any(extent < 1 for extent in extents):
        raise ArgumentError(f"{what}: shape {list(extents)} has extents below 1")
    return extents or (1,)


class Builder:
    """Adds operations to a graph; its shapes are those of NumPy, slowest-varying
    axis first.  Attributes of operators are as docs/operators.md and the headers
    document them: an axis counts from the fastest-varying one, which is 0, and
    lists of extents begin with it.
    """

    def __init__(self, core: _core.Graph) -> None:
        self._core = core

    def constant(
        self, value: Any, *, quantization: Quantization | None = None, name: str = ""
    ) -> Tensor:
        """A tensor with the values of an array; float64 becomes float32."""
        array = as_array(value, f"constant '{name}'" if name else "a constant")
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        # The graph keeps it, whatever becomes of the caller's array.
        kept = np.array(array, order="C", copy=True)
        dtype = type_name(kept.dtype)
        shape = kept.shape or (1,)
        spec = (dtype, shape, to_core(quantization, len(shape)))
        handle = self._core.add_tensor(spec, "constant", name, kept)
        return Tensor(handle, name, "constant")

    def op(
        self,
        operator: str | CustomOp,
        inputs: Sequence[Any] | Tensor,
        /,
        *,
        outputs: int | Sequence[Any] | None = None,
        dtype: Any = None,
        quantization: Any = None,
        name: str = "",
        **attributes: Any,
    ) -> Any:
        """Adds an operation and returns what it makes: a Tensor, or a tuple of
        them.

        `operator`: a name of timcl.operators(), "Softmax", or a CustomOp.
        `inputs`: tensors in the operator's order; None for an optional one that
        is absent; arrays and numbers become constants.
        `outputs`: how many results it has, where that is not the least number, or
        a list, in which a state of this graph is written, None is a result that
        nobody wants, and ... a new one.
        `dtype`, `quantization`: of the results, one for all or a list; without
        them the operator decides.
        `attributes`: by the operator's names; values of enums may be given by
        name (padding="same").
        """
        if isinstance(operator, CustomOp):
            least = operator.outputs
        elif isinstance(operator, str):
            known = operators.find(operator)
            least = known.least_outputs
            converted = operators.convert(known, attributes)
        else:
            raise ArgumentError(
                f"{operator!r} is no operator: expected a name or a CustomOp"
            )
        bound = self._inputs(inputs)
        if outputs is None:
            outputs = max(least, 1)
        places = [...] * outputs if isinstance(outputs, int) else list(outputs)
        if not places:
            raise ArgumentError("an operation has at least one output")
        made = self._results(places, dtype, quantization)
        handles_made = [handle for handle, _ in made]
        if isinstance(operator, CustomOp):
            operator._add(self._core, bound, handles_made, name, attributes)
        else:
            self._core.add_operation(operator, bound, handles_made, converted, name)
        results = tuple(tensor for _, tensor in made if tensor is not None)
        return results[0] if len(results) == 1 else results

    def _inputs(self, inputs: Any) -> list[_core.Tensor]:
        if isinstance(inputs, (Tensor, np.ndarray)):
            inputs = [inputs]
        if not isinstance(inputs, (list, tuple)):
            raise ArgumentError(f"inputs are {inputs!r}, expected a list of tensors")
        bound = []
        for each in inputs:
            if each is None:
                bound.append(self._core.place_holder())
            elif isinstance(each, Tensor):
                bound.append(each._handle)
            elif each is ... or isinstance(each, (str, bytes)):
                raise ArgumentError(f"{each!r} is no input: expected a tensor")
            else:
                bound.append(self.constant(each)._handle)
        return bound

    def _results(
        self, places: list[Any], dtype: Any, quantization: Any
    ) -> list[tuple[_core.Tensor, Tensor | None]]:
        dtypes = self._each(dtype, len(places), "dtype")
        quantizations = self._each(quantization, len(places), "quantization")
        made: list[tuple[_core.Tensor, Tensor | None]] = []
        for place, kind, quantized in zip(places, dtypes, quantizations):
            if place is None:
                made.append((self._core.place_holder(), None))
            elif isinstance(place, Tensor):
                made.append((place._handle, place))
            elif place is ...:
                known = "" if kind is None else type_name(kind)
                spec = (known, (), to_core(quantized, 0))
                handle = self._core.add_tensor(spec, "", "", None)
                made.append((handle, Tensor(handle)))
            else:
                raise ArgumentError(
                    f"outputs has {place!r}, expected a state, None or ..."
                )
        return made

    @staticmethod
    def _each(value: Any, count: int, what: str) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            return [value] * count
        if len(value) != count:
            raise ArgumentError(f"{what} has {len(value)} entries for {count} outputs")
        return list(value)


class Graph(Builder, Runnable):
    """A graph of operations: built, compiled once, run many times.

        g = timcl.Graph()
        x = g.input((2, 3), name="x")
        g.output(g.op("Softmax", [x], axis=0, beta=1.0), "y")
        y = g(numpy.zeros((2, 3), numpy.float32))

    `device`: one of timcl.devices(), its id ("opencl:0", "host") or number.
    """

    def __init__(self, device: DeviceLike = None) -> None:
        self._device = number_of(device)
        super().__init__(_core.Graph(self._device))
        self._inputs_made: list[Tensor] = []
        self._outputs_made: list[Tensor] = []
        self._states: list[Tensor] = []
        self._compiled_states: list[_core.Tensor | None] = []
        self._compiled = False

    def input(
        self,
        shape: Any,
        dtype: Any = "float32",
        name: str = "",
        *,
        quantization: Quantization | None = None,
    ) -> Tensor:
        """An input, with a shape in NumPy's order.  Without a name it is
        "input0", and so on."""
        self._change()
        name = self._fresh(name, "input", self._inputs_made)
        extents = _shape(shape, f"input '{name}'")
        spec = (type_name(dtype), extents, to_core(quantization, len(extents)))
        handle = self._core.add_tensor(spec, "input", name, None)
        tensor = Tensor(handle, name, "input")
        self._inputs_made.append(tensor)
        return tensor

    def state(
        self,
        shape: Any,
        dtype: Any = "float32",
        name: str = "",
        *,
        value: Any = None,
        quantization: Quantization | None = None,
    ) -> Tensor:
        """What one run leaves for the next; it begins as `value`, or zeros.  An
        operation writes it that has it in `outputs`; what reads it in a run sees
        the value from before the run."""
        self._change()
        name = self._fresh(name, "state", self._states)
        extents = _shape(shape, f"state '{name}'")
        kind = type_name(dtype)
        spec = (kind, extents, to_core(quantization, len(extents)))
        data = None
        if value is not None:
            data = np.array(fitting(value, f"state '{name}'", kind, extents))
        tensor = Tensor(self._core.add_tensor(spec, "state", name, data), name, "state")
        self._states.append(tensor)
        return tensor

    def constant(
        self, value: Any, *, quantization: Quantization | None = None, name: str = ""
    ) -> Tensor:
        self._change()
        return super().constant(value, quantization=quantization, name=name)

    def op(self, operator: Any, inputs: Any, /, **arguments: Any) -> Any:
        self._change()
        return super().op(operator, inputs, **arguments)

    constant.__doc__ = Builder.constant.__doc__
    op.__doc__ = Builder.op.__doc__

    def output(self, tensor: Tensor, name: str = "") -> Tensor:
        """Makes `tensor` an output.  Without a name it is that of the tensor, or
        "output0", and so on."""
        self._change()
        if not isinstance(tensor, Tensor):
            raise ArgumentError(f"{tensor!r} is no tensor of a graph")
        if any(each._handle is tensor._handle for each in self._outputs_made):
            raise ArgumentError(f"{tensor!r} is an output already")
        name = self._fresh(name, "output", self._outputs_made)
        if tensor._role:
            # What no operation makes is copied.
            tensor = self.op("Reshape", [tensor], shape=list(reversed(tensor.shape)))
        made = Tensor(tensor._handle, name)
        self._outputs_made.append(made)
        return made

    def compile(self) -> "Graph":
        """Makes the graph ready to run, which run() does by itself; nothing can
        be added to it afterwards."""
        self._prepare()
        return self

    def read(self, state: Tensor) -> np.ndarray[Any, Any]:
        """The value of a state between runs."""
        self._prepare()
        array = empty(state.dtype, state.shape)
        self._compiled_state(state).read(array)
        return array

    def write(self, state: Tensor, value: Any) -> None:
        """Gives a state another value between runs."""
        self._prepare()
        array = fitting(value, f"state '{state.name}'", state.dtype, state.shape)
        self._compiled_state(state).write(array)

    def _compiled_state(self, state: Tensor) -> _core.Tensor:
        for made, compiled in zip(self._states, self._compiled_states):
            if made is state and compiled is not None:
                return compiled
        raise ArgumentError(f"{state!r} is no state that this graph uses")

    def _prepare(self) -> None:
        if self._compiled:
            return
        if not self._outputs_made and not self._states:
            raise GraphError("the graph has no outputs: output() makes them")
        asked = self._inputs_made + self._outputs_made + self._states
        core, found = self._core.finish(
            handles(self._outputs_made),
            [tensor.name for tensor in self._outputs_made],
            handles(asked),
            self._device,
        )
        core.compile()
        self._core = core
        self._compiled = True
        ports = [
            (Port(each.name, each.dtype, each.shape, each.quantization), handle)
            for each, handle in zip(asked, found)
        ]
        count = len(self._inputs_made)
        ends = count + len(self._outputs_made)
        self._compiled_states = found[ends:]
        self._set_ports(ports[:count], ports[count:ends])

    def _change(self) -> None:
        if self._compiled:
            raise GraphError("the graph is compiled: nothing can be added to it")

    @staticmethod
    def _fresh(name: str, kind: str, others: list[Tensor]) -> str:
        name = name or f"{kind}{len(others)}"
        if any(each.name == name for each in others):
            raise ArgumentError(f"there is an {kind} '{name}' already")
        return name
