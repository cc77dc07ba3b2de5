"""Goldens of MaxPool3d, MaxpoolWithArgmax and MaxpoolWithArgmax2. Oracles: ONNX
Runtime's MaxPool with Indices where it has the window, PyTorch's max_pool3d
without padding; NumPy for indices in the window and other types."""

import os
import sys

import numpy as np
import onnxruntime
import torch
from onnx import TensorProto, helper

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import oracle
from golden_format import (EXACT, NONE, TYPES, Case, Suite, Tensor, fixed_point, is_float,
                           per_tensor, random_tensor, store)
from max_windows import AUTO, CEILING, FLOOR, SAME, VALID, Window, greatest

W = Window
P3D, LOCAL, WHOLE = "tim.MaxPool3d", "tim.MaxpoolWithArgmax", "tim.MaxpoolWithArgmax2"


def run_max_pool(x, axes, pads):
    """Values and Indices, which have two types."""
    info = helper.make_tensor_value_info
    node = helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[a[0] for a in axes],
                            pads=pads, strides=[a[1] for a in axes])
    graph = helper.make_graph(
        [node], "one", [info("x", TensorProto.FLOAT, x.shape)],
        [info("y", TensorProto.FLOAT, None), info("i", TensorProto.INT64, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    model.ir_version = 9
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})


def check(x, window, cells):
    """ORT refuses pads as large as the kernel; it drops windows that begin in
    the padding behind the image."""
    axes = window.axes(x.shape)
    pads = [a[2] for a in axes] + [a[3] for a in axes]
    inside = x.shape[x.ndim - len(axes):]
    fits = all((a[4] - 1) * a[1] + a[0] <= e + a[2] + a[3] for a, e in zip(axes, inside))
    if not fits or any(p >= a[0] for p, a in zip(pads, axes * 2)):
        return
    lead = (1,) * (2 - (x.ndim - len(axes)))
    values, indices = run_max_pool(x.reshape(lead + x.shape), axes, pads)
    oracle.require_equal(values.reshape(cells.shape), x.reshape(-1)[cells], "ORT MaxPool")
    oracle.require_equal(indices.reshape(cells.shape), cells, "ORT Indices")
    if len(axes) == 3 and not any(pads):
        found = torch.nn.functional.max_pool3d(
            torch.from_numpy(x.reshape(lead + x.shape)), [a[0] for a in axes],
            [a[1] for a in axes]).numpy()
        oracle.require_equal(found.reshape(cells.shape), x.reshape(-1)[cells], "PyTorch")


def case_of(rng, op, window, shape, dtype, quant=NONE, out=None, index="int32", declared=False,
            make=None):
    x = random_tensor(rng, dtype, shape, quant)
    if make:
        x.array = make(x).astype(x.array.dtype)
    out_type, out_quant = out or (dtype, quant)
    cells, local = greatest(x.array, window)
    same = (out_type, out_quant.text()) == (dtype, quant.text())
    if same:
        least = -np.finfo(dtype).max if is_float(dtype) else TYPES[dtype][1]
        y = Tensor(dtype, np.where(cells < 0, least, x.array.reshape(-1)[cells]), quant)
    else:
        assert (cells >= 0).all()
        y = store(x.real().reshape(-1)[cells], out_type, out_quant)
    if dtype == "float32":
        check(x.array, window, cells)
    outputs = [y]
    if op != P3D:
        outputs.append(Tensor(index, local if op == LOCAL else cells))
    if declared:
        outputs = [o.declared() for o in outputs]
    return Case(op, window.attributes(), [x], outputs, EXACT)


# shape slowest first, window {W, H, D}
VOLUMES = [
    ("2x2x2_s1_valid", (1, 2, 3, 3, 3), W((2, 2, 2), (1, 1, 1), VALID)),
    ("2x2x2_s1_same", (1, 2, 3, 4, 5), W((2, 2, 2), (1, 1, 1), SAME)),
    ("3x2x1_s1_2_3", (2, 3, 7, 6, 5), W((3, 2, 1), (1, 2, 3))),
    ("1x1x1", (1, 1, 1, 1, 1), W((1, 1, 1), (1, 1, 1))),
    ("pads", (1, 2, 4, 5, 6), W((3, 3, 3), (2, 2, 2), AUTO, (0, 1, 2, 1, 1, 0))),
    ("ceil", (1, 2, 6, 6, 8), W((3, 3, 3), (2, 2, 2), AUTO, None, CEILING)),
    ("rank_4", (3, 4, 5, 6), W((2, 3, 2), (2, 1, 2))),
    ("channels_33", (1, 33, 2, 3, 3), W((2, 2, 2), (1, 1, 1))),
]
IMAGES = [
    ("2x2_s2", (1, 3, 6, 8), W((2, 2), (2, 2), VALID)),
    ("3x2_s1_overlap", (2, 2, 5, 7), W((3, 2), (1, 1), VALID)),
    ("3x2_s2_overlap", (2, 2, 6, 7), W((3, 2), (2, 2), VALID)),
    ("3x3_s2_same", (1, 2, 6, 5), W((3, 3), (2, 2), SAME)),
    ("pads", (1, 3, 6, 7), W((3, 3), (2, 2), AUTO, (0, 1, 2, 1))),
    ("ceil", (1, 2, 6, 6), W((3, 3), (2, 2), AUTO, None, CEILING)),
    ("rank_3", (3, 4, 4), W((2, 2), (2, 2), VALID)),
    ("channels_33", (1, 33, 4, 4), W((2, 2), (2, 2), VALID)),
    ("1x1", (1, 1, 1, 1), W((1, 1), (1, 1))),
]
U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
I16 = ("int16", per_tensor(0.0005, 300))
I8D, I16D = ("int8", fixed_point(4)), ("int16", fixed_point(8))
F16, F32, I32 = ("float16", NONE), ("float32", NONE), ("int32", NONE)
TYPED = [
    ("f16", F16, F16), ("u8", U8, U8), ("i8", I8, I8), ("i16", I16, I16), ("i8d", I8D, I8D),
    ("i16d", I16D, I16D), ("i32", I32, I32),
    ("u8_requantized", U8, ("uint8", per_tensor(0.037, 90))),
    ("i8_requantized", I8, ("int8", per_tensor(0.047, 4))),
    ("i16d_to_i8", I16D, ("int8", per_tensor(1.1, 4))),
    ("u8_to_f32", U8, F32), ("u8_to_f16", U8, F16), ("f16_to_u8", F16, ("uint8", per_tensor(0.037, 90))),
    ("f16_to_i8", F16, ("int8", per_tensor(0.047, 4))),
    ("f32_to_i16", F32, ("int16", per_tensor(0.0007, -20))),
]


def add_all(suite):
    for op, name, windows in ((P3D, "volume", VOLUMES), (LOCAL, "local", IMAGES),
                              (WHOLE, "whole", IMAGES)):
        index = "uint8" if op == LOCAL else "int32"
        for window_name, shape, window in windows:
            suite.add(f"f32_{name}_{window_name}", lambda rng: case_of(
                rng, op, window, shape, *F32, index=index))
        for type_name, x, out in TYPED:
            for window_name, shape, window in windows[:2] + windows[3:5]:
                suite.add(f"{type_name}_{name}_{window_name}", lambda rng: case_of(
                    rng, op, window, shape, *x, out, index=index))
        # Of equal cells the first.
        suite.add(f"f32_{name}_equal_cells", lambda rng: case_of(
            rng, op, windows[1][2], windows[1][1], *F32, index=index,
            make=lambda x: rng.integers(0, 2, x.array.shape)))
        suite.add(f"u8_{name}_equal_cells", lambda rng: case_of(
            rng, op, windows[1][2], windows[1][1], *U8, index=index,
            make=lambda x: rng.integers(0, 2, x.array.shape)))
        # Padding counts as nothing, not as 0.
        suite.add(f"f32_{name}_all_negative", lambda rng: case_of(
            rng, op, windows[4][2], windows[4][1], *F32, index=index,
            make=lambda x: -1 - np.abs(x.array)))
    for type_name, x in (("f32", F32), ("u8", U8)):
        cut = W((2, 2), (2, 2), VALID, extents=(2, 2))
        suite.add(f"{type_name}_local_cut_at_the_border", lambda rng: case_of(
            rng, LOCAL, cut, (1, 3, 3), *x, index="uint8", declared=True))
        beyond = W((2, 2), (2, 2), VALID, extents=(3, 2))
        suite.add(f"{type_name}_local_beyond", lambda rng: case_of(
            rng, LOCAL, beyond, (1, 3, 3), *x, index="uint8", declared=True))
        suite.add(f"{type_name}_whole_beyond", lambda rng: case_of(
            rng, WHOLE, beyond, (1, 3, 3), *x, declared=True))
    suite.add("f32_local_int16_indices", lambda rng: case_of(
        rng, LOCAL, W((20, 15), (2, 2)), (1, 2, 16, 24), *F32, index="int16"))


def main():
    suite = Suite(__file__, onnxruntime, torch)
    add_all(suite)
    suite.write()


if __name__ == "__main__":
    main()
