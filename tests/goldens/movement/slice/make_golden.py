"""Goldens of Slice. Oracles: ONNX Runtime's Slice, NumPy."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from moved import Moves, agree, onnx

# name, input (row-major), start, length, step (fastest-first)
SLICES = [
    ("r1", (33,), (5,), (17,), None),
    ("r1_step", (33,), (1,), (31,), (3,)),
    ("r2", (4, 3), (0, 1), (2, 2), None),
    ("r2_step", (3, 4), (0, 0), (4, 3), (2, 2)),
    ("r2_uneven_step", (5, 7), (1, 0), (5, 4), (2, 3)),
    ("r3_outermost", (7, 5, 3), (0, 0, 2), (3, 5, 3), None),
    ("r4_channels", (2, 19, 3, 5), (0, 0, 2, 0), (5, 3, 16, 2), None),
    ("r4_space", (2, 3, 17, 40), (3, 1, 0, 0), (33, 15, 3, 2), None),
    ("r4_whole", (2, 3, 2, 5), (0, 0, 0, 0), (5, 2, 3, 2), None),
    ("r5", (2, 3, 4, 3, 5), (1, 0, 2, 1, 1), (3, 3, 2, 2, 1), (2, 1, 1, 1, 1)),
    ("dims_below_rank", (3, 4, 5), (1, 2), (3, 2), None),
]
FEW = ("r2_uneven_step", "r4_channels")


def sliced(array, start, length, step):
    cuts = [slice(None)] * (array.ndim - len(start))
    cuts += [slice(s, s + n, k) for s, n, k in
             list(zip(start, length, step or [1] * len(start)))[::-1]]
    ends = np.array([s + n for s, n in zip(start, length)], np.int64)
    axes = np.array([array.ndim - 1 - i for i in range(len(start))], np.int64)
    found = onnx("Slice", array, np.array(start, np.int64), ends, axes,
                 np.array(step or [1] * len(start), np.int64))
    return agree(array[tuple(cuts)], found, "ORT Slice")


def main():
    moves = Moves(__file__, onnxruntime)
    for name, shape, start, length, step in SLICES:
        attributes = {"dims": len(start), "start": list(start), "length": list(length)}
        if step:
            attributes["step"] = list(step)
        moves.add(name, "tim.Slice", attributes, shape,
                  lambda array, zero: sliced(array, start, length, step), name in FEW)
    _, shape, start, length, step = SLICES[2]
    moves.add("r2_dims_0", "tim.Slice",
              {"dims": 0, "start": list(start), "length": list(length)}, shape,
              lambda array, zero: sliced(array, start, length, step))
    moves.write()


if __name__ == "__main__":
    main()
