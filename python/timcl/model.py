"""Models of files."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Callable, Mapping, Sequence, Union

import numpy as np

from . import _core
from .arrays import as_array, dense, type_name
from .custom import CustomOp
from .devices import DeviceLike, number_of
from .errors import ArgumentError, ModelError
from .graph import Builder
from .runnable import Runnable
from .tensors import Port, Tensor, from_core


@dataclasses.dataclass(frozen=True)
class Node:
    """A node of a model that the library does not take."""

    name: str
    op: str
    """"com.acme.Gate", "CUSTOM_OP"."""
    attributes: Mapping[str, tuple[Any, ...]]
    """Lists of numbers or texts, as the file has them."""
    inputs: tuple[Tensor | None, ...]
    """None where an optional one is absent."""
    output_count: int


Supplier = Callable[[Builder, Node], Any]
Custom = Union[Mapping[str, Union[CustomOp, Supplier]], Supplier, None]


class Model(Runnable):
    """A model ready to run; timcl.load() makes it."""

    warnings: tuple[str, ...] = ()
    """What the importer has doubts about, one line each."""

    def __init__(self, core: _core.Graph) -> None:
        self._core = core

    def __repr__(self) -> str:
        inputs = ", ".join(str(port) for port in self.inputs)
        outputs = ", ".join(str(port) for port in self.outputs)
        return f"<timcl.Model {inputs} -> {outputs}>"


def load(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    dims: Mapping[str, int] | None = None,
    values: Mapping[str, Any] | None = None,
    custom: Custom = None,
    device: DeviceLike = None,
    format: str | None = None,
    signature: str = "",
    external_data: str | os.PathLike[str] = "",
    most_trips: int = 256,
    stacked_rows: int = 0,
) -> Model:
    """Loads and compiles a model: a file, or its bytes.

    `format`: "onnx", "tflite" or "binary" (what save() and `timcl compile`
    write); without it what the name and the content say.
    `shapes`: of inputs by name, for files that leave extents open, and in place
    of those that the file has.  `dims`: extents by the names that the file gives
    them.  `values`: inputs that become constants.
    `custom`: what stands for nodes that the library does not take: CustomOps by
    the nodes' operator, or functions of a Builder and a Node that add operations
    and return what they make (None: the node stays refused); or one such
    function for all.
    `device`: one of timcl.devices(), its id or number.
    `signature`: of a TFLite file, whose names inputs and outputs have.
    `external_data`: folder of an ONNX file's external data, where it is not
    beside the file.  `most_trips`: to how many trips loops are unrolled.
    `stacked_rows`: rows of what an ONNX Loop stacks whose trips are known when
    the model runs, see docs/models.md; 0: that is refused.

    Raises ModelError, with everything that is not taken in `refusals`.
    """
    path, content = _open(source)
    kind = format or _format_of(path, content)
    number = number_of(device)
    if kind == "binary":
        if content is None:
            content = _read(path)
        return _load_binary(content, number)
    if kind not in ("onnx", "tflite"):
        raise ArgumentError(
            f"format is {kind!r}, expected 'onnx', 'tflite' or 'binary'"
        )
    options = {
        "device": number,
        "shapes": {
            name: [_integer(extent, f"shapes['{name}']") for extent in each]
            for name, each in (shapes or {}).items()
        },
        "dims": {
            name: _integer(extent, f"dims['{name}']")
            for name, extent in (dims or {}).items()
        },
        "values": {name: _value(name, each) for name, each in (values or {}).items()},
        "most_trips": _integer(most_trips, "most_trips"),
        "stacked_rows": _integer(stacked_rows, "stacked_rows"),
        "extra": signature if kind == "tflite" else os.fspath(external_data),
        "cpp_path": "",
        "supplier": _supplier(custom),
    }
    core, inputs, outputs, warnings = _core.load_model(kind, path, content, options)
    model = Model(core)
    model.warnings = tuple(warnings)
    return _ready(model, inputs, outputs)


def _integer(value: Any, what: str) -> int:
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise ArgumentError(f"{what} is {number}, more than 64 bits")
    return number


def _ready(model: Model, inputs: list[Any], outputs: list[Any]) -> Model:
    model._core.compile()
    model._set_ports(
        [(_port(*each), each[1]) for each in inputs],
        [(_port(*each), each[1]) for each in outputs],
    )
    return model


def _port(name: str, tensor: _core.Tensor, shape: tuple[int, ...]) -> Port:
    dtype, extents, quantization = tensor.spec
    # A scalar of the model is [1] in the graph.
    known = all(extent >= 0 for extent in shape)
    same = known and int(np.prod(shape)) == int(np.prod(extents))
    return Port(name, dtype, tuple(shape if same else extents), from_core(quantization))


def _open(source: Any) -> tuple[str | None, Any]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return None, bytes(source)
    try:
        path = os.fspath(source)
    except TypeError as error:
        raise ArgumentError(
            f"a model is a file's path or its bytes, not {type(source).__name__}"
        ) from error
    return os.fsdecode(path), None


def _read(path: str | None) -> bytes:
    assert path is not None
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}") from error


def _format_of(path: str | None, content: bytes | None) -> str:
    if path is not None:
        suffix = os.path.splitext(path)[1].lower()
        if suffix in (".onnx", ".tflite"):
            return suffix[1:]
        try:
            with open(path, "rb") as file:
                content = file.read(16)
        except OSError as error:
            raise ModelError(f"{path}: {error.strerror}") from error
    assert content is not None
    if content[4:8] == b"TFL3":
        return "tflite"
    return "binary" if content[: len(_MAGIC)] == _MAGIC else "onnx"


_MAGIC = b"TIMCLBIN"


def _load_binary(content: bytes, device: int) -> Model:
    described = _core.describe_binary(content)
    core = _core.Graph(device)
    made: dict[str, list[Any]] = {}
    for role, plural in (("input", "inputs"), ("output", "outputs")):
        made[plural] = []
        for name, spec in described[plural]:
            tensor = core.add_tensor(spec, role, name, None)
            made[plural].append((name, tensor, spec[1]))
    core.add_binary(
        content,
        [each[1] for each in made["inputs"]],
        [each[1] for each in made["outputs"]],
    )
    return _ready(Model(core), made["inputs"], made["outputs"])


def _value(name: str, value: Any) -> tuple[str, tuple[int, ...], Any]:
    array = as_array(value, f"value of '{name}'")
    kept = np.array(dense(array), order="C", copy=True)
    return type_name(kept.dtype), kept.shape, kept


def _supplier(custom: Custom) -> Any:
    if custom is None:
        return None
    if not isinstance(custom, Mapping) and not callable(custom):
        raise ArgumentError(f"custom is {custom!r}, expected a dict or a function")

    def supply(core: _core.Graph, described: dict[str, Any]) -> Any:
        inputs = tuple(
            None if each is None else Tensor(each) for each in described["inputs"]
        )
        node = Node(
            described["name"],
            described["op"],
            described["attributes"],
            inputs,
            described["output_count"],
        )
        chosen = custom.get(node.op) if isinstance(custom, Mapping) else custom
        builder = Builder(core)
        if chosen is None:
            return None
        if isinstance(chosen, CustomOp):
            made = builder.op(chosen, list(inputs))
        else:
            made = chosen(builder, node)
        return _made(made, node)

    return supply


def _made(made: Any, node: Node) -> Any:
    if made is None:
        return None
    tensors = list(made) if isinstance(made, (list, tuple)) else [made]
    if len(tensors) != node.output_count or not all(
        isinstance(tensor, Tensor) for tensor in tensors
    ):
        raise ArgumentError(
            f"what stands for node '{node.name}' ({node.op}) returned {made!r}, "
            f"expected {node.output_count} tensors"
        )
    return [tensor._handle for tensor in tensors]
