"""ONNX's node tests of NonMaxSuppression as text: the package's inputs and rows.

What the package publishes must be what its reference implementation and ONNX
Runtime compute of the inputs.  To remake: pip install numpy onnx onnxruntime."""

import os

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

_PREFIX = "test_nonmaxsuppression_"
_INPUTS = ["boxes", "scores", "max_output_boxes_per_class", "iou_threshold", "score_threshold"]


def _array(value):
    return value if isinstance(value, np.ndarray) else numpy_helper.to_array(value)


def _check(model, feeds, expected, name):
    model.ir_version = min(model.ir_version, 9)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"])
    for found in (session.run(None, feeds)[0], ReferenceEvaluator(model).run(None, feeds)[0]):
        if not np.array_equal(found, expected):
            raise AssertionError(f"{name}: {found.tolist()}, published {expected.tolist()}")


def _line(word, values):
    return " ".join([word, *(repr(float(v)) if np.ndim(v) == 0 and isinstance(v, np.floating)
                             else str(int(v)) for v in values)])


def _case(case):
    name = case.name.removeprefix(_PREFIX)
    node = case.model.graph.node[0]
    inputs, outputs = case.data_sets[0]
    feeds = {key: _array(value) for key, value in zip(node.input, inputs)}
    rows = _array(outputs[0])
    _check(case.model, feeds, rows, name)
    boxes, scores = feeds["boxes"], feeds["scores"]
    limit, iou, score = (feeds[key].reshape(-1) for key in _INPUTS[2:])
    centre = {a.name: a.i for a in node.attribute}.get("center_point_box", 0)
    return "\n".join([
        f"case {name}",
        _line("shape", [*scores.shape]),
        _line("boxes", boxes.reshape(-1)),
        _line("scores", scores.reshape(-1)),
        _line("limit", limit),
        _line("iou", iou),
        _line("score", score),
        f"centre {centre}",
        _line("rows", [len(rows), *rows.reshape(-1)]),
        "",
    ])


def main():
    cases = [case for case in collect_testcases("NonMaxSuppression")
             if case.kind == "node"]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "non_max_suppression.txt")
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"# onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}\n")
        out.write("".join(_case(case) for case in cases))


if __name__ == "__main__":
    main()
