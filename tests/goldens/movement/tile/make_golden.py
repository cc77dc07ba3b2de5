"""Goldens of Tile and Broadcast. Oracles: ONNX Runtime's Tile and Expand, NumPy;
dimensions of Broadcast: the index formula of StableHLO's broadcast_in_dim."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from moved import Moves, agree, onnx

# name, input (row-major), multiples (fastest-first)
TILES = [
    ("r1", (17,), (3,)),
    ("r2_width", (3, 4), (2, 1)),
    ("r2_height", (3, 20), (1, 2)),
    ("r2_once", (3, 5), (1, 1)),
    ("r3", (2, 3, 5), (2, 2, 1)),
    ("r3_of_one", (2, 1, 1), (16, 3, 1)),
    ("r4", (2, 3, 2, 5), (1, 3, 2, 2)),
    ("r5", (1, 2, 3, 1, 4), (2, 5, 1, 1, 3)),
]
# name, input (row-major), shape, dimensions (fastest-first)
BROADCASTS = [
    ("scalar", (1,), (3, 2), ()),
    ("r1", (3,), (3, 2), ()),
    ("r2_columns", (5, 1), (17, 5), ()),
    ("r2_to_r4", (3, 1), (16, 3, 2, 2), ()),
    ("shape_of_ones", (2, 3, 5), (1, 3), ()),
    ("both", (2, 1, 5), (1, 4, 1), ()),
    ("same", (2, 5), (5, 2), ()),
    ("axis0", (2,), (2, 2), (0,)),
    ("axis1", (2,), (2, 2), (1,)),
    ("axis_from_the_end", (3,), (3, 2), (-2,)),
    ("axis2_of_3", (2,), (2, 2, 2), (2,)),
    ("axes_0_2", (2, 2), (2, 2, 2), (0, 2)),
    ("axes_1_2", (2, 3), (4, 3, 2), (1, 2)),
    ("axes_swapped", (4, 3), (4, 5, 3), (2, 0)),
    ("axis_of_one", (1, 5), (5, 4, 3), (0, 2)),
]
FEW = ("r3", "r2_width", "r2_columns", "axes_swapped")


def tiled(array, multiples):
    counts = multiples[::-1]
    found = onnx("Tile", array, np.array(counts, np.int64))
    return agree(np.tile(array, counts), found, "ORT Tile")


def broadcast(array, shape, dimensions):
    target = shape[::-1]
    if not dimensions:
        out = np.broadcast_to(array, np.broadcast_shapes(array.shape, target))
        return agree(out, onnx("Expand", array, np.array(target, np.int64)), "ORT Expand")
    source = array.transpose()  # axes fastest-first
    places = [d % len(shape) for d in dimensions]
    out = np.empty(shape, array.dtype)
    for index in np.ndindex(*shape):
        at = tuple(0 if source.shape[k] == 1 else index[p] for k, p in enumerate(places))
        out[index] = source[at]
    return out.transpose()


def main():
    moves = Moves(__file__, onnxruntime)
    for name, shape, multiples in TILES:
        moves.add(f"tile_{name}", "tim.Tile", {"multiples": list(multiples)}, shape,
                  lambda array, zero: tiled(array, multiples), name in FEW)
    for name, shape, target, dimensions in BROADCASTS:
        moves.add(f"broadcast_{name}", "tim.Broadcast",
                  {"shape": list(target), "dimensions": list(dimensions)}, shape,
                  lambda array, zero: broadcast(array, target, dimensions), name in FEW)
    moves.write()


if __name__ == "__main__":
    main()
