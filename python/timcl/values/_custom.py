"""Custom operators of timcl.CustomOp on values."""

from __future__ import annotations

import collections
import threading
from typing import Any

from ..custom import CustomOp
from ..errors import ArgumentError
from ..graph import Graph
from . import _modes
from ._calls import holder
from ._operands import as_value
from ._types import PACKED, Spec
from ._value import Value

_MOST_GRAPHS = 64
_made: collections.OrderedDict[Any, Graph] = collections.OrderedDict()
_lock = threading.Lock()


def call(op: CustomOp, inputs: list[Any], attributes: dict[str, Any]) -> Any:
    """Runs a custom operator as a graph of its own, whose arrays are on the host; in
    a captured function it is a step of the host that does so."""
    operands = [None if each is None else as_value(each) for each in inputs]
    specs = [None if each is None else each.spec for each in operands]
    for number, spec in enumerate(specs):
        if spec is None:
            continue
        if not spec.is_static or spec.dtype in PACKED:
            raise ArgumentError(
                f"{op}: input {number} is {spec}, expected a known type and shape; "
                f"specialize() the graph"
            )
    device = _modes.device_for([each for each in operands if each is not None])
    graph = _graph(op, specs, attributes, device)
    present = [each for each in operands if each is not None]

    def run(*arrays: Any) -> Any:
        pairs = zip(arrays, graph.inputs)
        made = graph.run([array.reshape(port.shape) for array, port in pairs])
        return tuple(made.values())

    outputs = [
        Spec(port.shape, port.dtype, port.quantization) for port in graph.outputs
    ]
    return holder(f"user.{op.name}", present, outputs, run)


def _graph(
    op: CustomOp, specs: list[Spec | None], attributes: dict[str, Any], device: str
) -> Graph:
    try:
        key: Any = (op, tuple(specs), tuple(sorted(attributes.items())), device)
        hash(key)
    except TypeError:
        key = None
    with _lock:
        if key is not None and key in _made:
            _made.move_to_end(key)
            return _made[key]
    graph = Graph(device)
    bound = [
        None
        if spec is None
        else graph.input(spec.shape or (1,), spec.dtype, quantization=spec.quantization)
        for spec in specs
    ]
    results = graph.op(op, bound, **attributes)
    for each in results if isinstance(results, tuple) else (results,):
        graph.output(each)
    graph.compile()
    with _lock:
        if key is not None:
            _made[key] = graph
            while len(_made) > _MOST_GRAPHS:
                _made.popitem(last=False)
    return graph
