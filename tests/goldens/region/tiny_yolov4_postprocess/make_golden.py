"""Goldens of TinyYolov4Postprocess. Oracle: the formulas in NumPy, float64; no
framework has the operator. Heads are smaller than those of the network (13 and 26
cells), as of so many results of 8 bits one is near a tie whatever the seed."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import (NONE, Case, Suite, Tensor, close, is_float, per_tensor,
                           random_tensor, store)

COARSE = (32, [(81, 82), (135, 169), (344, 319)])
FINE = (16, [(23, 27), (37, 58), (81, 82)])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rows_of(head, grid, stride, anchors):
    """head [1, 255, H, W], grid [2, H, W]: confidences [R, 80], boxes [R, 4]."""
    t = head.reshape(3, 85, -1)
    cells = grid.reshape(2, -1)
    confidences = sigmoid(t[:, 4:5]) * sigmoid(t[:, 5:])
    centers = (sigmoid(t[:, :2]) * 1.05 - 0.025 + cells) * stride
    sizes = np.exp(t[:, 2:4]) * np.array(anchors, float)[:, :, None]
    boxes = np.concatenate([centers, sizes], axis=1)
    return [a.transpose(0, 2, 1).reshape(-1, a.shape[1]) for a in (confidences, boxes)]


def grid_of(kind, h, w):
    planes = np.stack([np.tile(np.arange(w), (h, 1)), np.tile(np.arange(h)[:, None], (1, w))])
    if is_float(kind[0]):
        return Tensor(kind[0], planes, kind[1])
    return Tensor(kind[0], planes / kind[1].scale() + kind[1].zero(), kind[1])


def case_of(rng, w, h, head, grid, confidence, box):
    heads = [random_tensor(rng, head[0], (1, 255, times * h, times * w), head[1])
             for times in (1, 2)]
    grids = [grid_of(grid, times * h, times * w) for times in (1, 2)]
    parts = [rows_of(heads[i].real(), grids[i].real(), *kind)
             for i, kind in ((1, FINE), (0, COARSE))]
    results = [np.concatenate([part[k] for part in parts])[None] for k in (0, 1)]
    outputs = [store(results[0], *confidence),
               store(results[1], *box, error=1e-6)]
    return Case("tim.TinyYolov4Postprocess", {}, heads + grids, outputs,
                close(1e-6, 1e-6) if confidence[0] == "float32" else close(0))


F16, F32 = ("float16", NONE), ("float32", NONE)
U8_GRID = ("uint8", per_tensor(1, 0))
U8_HEAD, I8_HEAD = ("uint8", per_tensor(0.0613, 131)), ("int8", per_tensor(0.0613, 5))
U8_CONFIDENCE, U8_BOX = ("uint8", per_tensor(1 / 255, 0)), ("uint8", per_tensor(1.7, 3))
I8_CONFIDENCE, I8_BOX = ("int8", per_tensor(1 / 255, -128)), ("int8", per_tensor(2.3, -100))
KINDS = [
    ("f32", F32, F32, F32, F32), ("f16_to_f32", F16, F32, F32, F32),
    ("u8", U8_HEAD, U8_GRID, U8_CONFIDENCE, U8_BOX),
    ("i8", I8_HEAD, U8_GRID, I8_CONFIDENCE, I8_BOX),
    ("u8_to_f32", U8_HEAD, U8_GRID, F32, F32),
    ("f32_to_u8", F32, F32, U8_CONFIDENCE, U8_BOX),
]


def main():
    suite = Suite(__file__)
    for name, *kinds in KINDS:
        for w, h in ((1, 1), (1, 2)):
            suite.add(f"{name}_{w}x{h}", lambda rng: case_of(rng, w, h, *kinds))
    suite.add("f16_1x1", lambda rng: case_of(rng, 1, 1, F16, F32, F16, F16))
    suite.add("f32_4x3", lambda rng: case_of(rng, 4, 3, F32, F32, F32, F32))
    suite.write()


if __name__ == "__main__":
    main()
