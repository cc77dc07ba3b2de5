"""Runs single ONNX operators through ONNX Runtime's CPU provider."""

import numpy as np
import onnxruntime
from onnx import helper

onnxruntime.set_default_logger_severity(3)
_OPSET = 19


def run_onnx(op, inputs, output_type=None, outputs=1, **attributes):
    """One node of `outputs` outputs on arrays (None = absent input); returns its
    first output."""
    return _run(op, inputs, outputs, 1, output_type, attributes)[0]


def run_onnx_all(op, inputs, count, output_type=None, **attributes):
    """The same of an operator with `count` outputs of one type: a list."""
    return _run(op, inputs, count, count, output_type, attributes)


def _run(op, inputs, count, wanted, output_type, attributes):
    names = [f"i{k}" if x is not None else "" for k, x in enumerate(inputs)]
    infos, feeds = [], {}
    for name, array in zip(names, inputs):
        if not name:
            continue
        array = np.asarray(array)
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        infos.append(helper.make_tensor_value_info(name, kind, array.shape))
        feeds[name] = array
    if output_type is None:
        output_type = np.asarray(inputs[0]).dtype
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(output_type))
    outputs = [f"o{k}" for k in range(count)]
    node = helper.make_node(op, names, outputs, **attributes)
    graph = helper.make_graph([node], "one", infos, [
        helper.make_tensor_value_info(name, kind, None) for name in outputs[:wanted]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)])
    model.ir_version = 9
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(outputs[:wanted], feeds)


def require_equal(found, expected, what):
    if not np.array_equal(found, expected):
        bad = np.argwhere(np.asarray(found) != np.asarray(expected))
        raise AssertionError(f"{what}: {len(bad)} values differ, first at {bad[0]}")


def require_close(found, expected, what, absolute):
    worst = np.max(np.abs(np.asarray(found, np.float64) - expected), initial=0)
    if not worst <= absolute:
        raise AssertionError(f"{what}: off by {worst}, allowed {absolute}")
