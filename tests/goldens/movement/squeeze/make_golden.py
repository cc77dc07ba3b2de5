"""Goldens of Squeeze. Oracles: ONNX Runtime's Squeeze, NumPy."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from moved import Moves, agree, onnx

# name, input (row-major), axes (fastest-first)
SQUEEZES = [
    ("r2_first", (5, 1), (0,)),
    ("r2_second", (1, 33), (1,)),
    ("r4_space", (2, 17, 1, 1), (0, 1)),
    ("r4_batch_of_three", (1, 1, 3, 5), (3,)),
    ("r4_unsorted_twice", (1, 3, 1, 5), (3, 1, 3)),
    ("r4_all_listed", (1, 1, 1, 1), (0, 1, 2, 3)),
    ("r5_empty_list", (1, 3, 1, 5, 1), ()),
    ("r2_empty_list_all", (1, 1), ()),
    ("r2_empty_list_none", (3, 5), ()),
]
FEW = ("r4_space", "r5_empty_list")


def squeezed(array, axes):
    rank = array.ndim
    at = tuple(sorted({rank - 1 - axis for axis in axes}))
    at = at or tuple(i for i in range(rank) if array.shape[i] == 1)
    out = np.squeeze(array, at) if at else array
    if at:
        agree(out, onnx("Squeeze", array, np.array(at, np.int64)), "ORT Squeeze")
    return out.reshape(1) if out.ndim == 0 else out


def main():
    moves = Moves(__file__, onnxruntime)
    for name, shape, axes in SQUEEZES:
        moves.add(name, "tim.Squeeze", {"axis": list(axes)}, shape,
                  lambda array, zero: squeezed(array, axes), name in FEW)
    moves.write()


if __name__ == "__main__":
    main()
