"""Goldens of Split and Unstack. Oracles: ONNX Runtime's Split, NumPy's split and
take."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from moved import Moves, agree, widened

# name, input (row-major), axis (fastest-first), slices
SPLITS = [
    ("r1", (33,), 0, (1, 17, 15)),
    ("r2_axis0", (3, 20), 0, (16, 4)),
    ("r2_axis1", (5, 7), 1, (2, 3)),
    ("r2_one", (5, 7), 1, (5,)),
    ("r3_axis1", (2, 6, 5), 1, (1, 2, 3)),
    ("r4_channels", (2, 51, 3, 5), 2, (16, 32, 3)),
    ("r4_batch", (3, 4, 2, 3), 3, (1, 2)),
    ("r5", (2, 2, 5, 2, 3), 2, (3, 2)),
    ("many", (2, 20, 3), 1, (1,) * 20),
]
# name, input (row-major), axis (fastest-first)
UNSTACKS = [
    ("r1", (5,), 0),
    ("r2_axis0", (3, 4), 0),
    ("r2_axis1", (3, 4), 1),
    ("r2_from_the_end", (3, 4), -1),
    ("r3_axis1", (2, 3, 17), 1),
    ("r4_axis2", (2, 3, 2, 33), 2),
    ("r4_axis3", (2, 3, 5, 7), 3),
    ("extent_1", (3, 1, 4), 1),
]
FEW = ("r2_axis0", "r4_channels", "r3_axis1")


def split(array, axis, slices):
    axis = array.ndim - 1 - axis
    parts = np.split(array, np.cumsum(slices)[:-1], axis)
    if len(slices) > 1:
        # The oracle's helper returns the first output.
        first = oracle.run_onnx_all("Split", [widened(array), np.array(slices, np.int64)],
                                    len(slices), axis=axis)
        for part, found in zip(parts, first):
            agree(part, found.astype(array.dtype), "ORT Split")
    return parts


def unstack(array, axis):
    at = array.ndim - 1 - axis if axis >= 0 else -1 - axis
    parts = [np.take(array, i, at) for i in range(array.shape[at])]
    return [p.reshape(1) if p.ndim == 0 else p for p in parts]


def main():
    moves = Moves(__file__, onnxruntime)
    for name, shape, axis, slices in SPLITS:
        moves.add(f"split_{name}", "tim.Split", {"axis": axis, "slices": list(slices)}, shape,
                  lambda array, zero: split(array, axis, slices), name in FEW)
    for name, shape, axis in UNSTACKS:
        count = shape[::-1][axis]
        moves.add(f"unstack_{name}", "tim.Unstack", {"axis": axis, "output_num": count}, shape,
                  lambda array, zero: unstack(array, axis), name in FEW)
    moves.write()


if __name__ == "__main__":
    main()
