"""Goldens of ElementMap, which the compiler makes of operators that move
elements and follow one another. Oracle: NumPy's reshape, transpose, slices,
flip, pad and tile, one after the other; the loops of their composition stand
here as numbers, made by hand."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from moved import Moves

OP = "tim.ElementMap"


def attributes(shape, start, extents, strides, bounds=()):
    """`shape` as NumPy has it, loops fastest-first; bounds (start, limit, strides)."""
    rows = [word for first, limit, steps in bounds for word in (first, limit, *steps)]
    return {"shape": list(reversed(shape)), "start": start, "extents": list(extents),
            "strides": list(strides), "bounds": rows}


def shuffled(array, zero):
    n, c, h, w = array.shape
    return array.reshape(n, 2, c // 2, h, w).transpose(0, 2, 1, 3, 4).reshape(array.shape)


def depth_to_space(array, zero):
    n, c, h, w = array.shape
    blocks = array.reshape(n, 2, 2, c // 4, h, w)
    return blocks.transpose(0, 3, 4, 1, 5, 2).reshape(n, c // 4, 2 * h, 2 * w)


def zeros_around(array, widths, zero):
    return np.pad(array, widths, constant_values=zero)


# name, input (row-major), attributes, move
CASES = [
    # [n, 2, 17, 15] -> [n, 17, 2, 15]: places and images as they are
    ("shuffle", (2, 34, 3, 5), attributes((2, 34, 3, 5), 0, (15, 2, 17, 2), (1, 255, 15, 510)),
     shuffled),
    ("depth_to_space", (1, 8, 3, 5),
     attributes((1, 2, 6, 10), 0, (2, 5, 2, 3, 2), (30, 1, 60, 5, 15)), depth_to_space),
    ("transposed", (33, 18), attributes((18, 33), 0, (33, 18), (18, 1)),
     lambda array, zero: array.T),
    ("sliced_transposed", (20, 34), attributes((17, 19), 0, (19, 17), (34, 2)),
     lambda array, zero: array.T[:33:2, :19]),
    ("padded_transposed", (5, 7),
     attributes((10, 6), -8, (6, 10), (7, 1), ((-1, 5, (1, 0)), (-1, 7, (0, 1)))),
     lambda array, zero: zeros_around(array, ((1, 0), (1, 2)), zero).T),
    ("reversed_sliced", (4, 21), attributes((2, 18), 20 + 21, (18, 2), (-1, 42)),
     lambda array, zero: array[1::2, ::-1][:, :18]),
    ("sliced_tiled", (3, 40), attributes((2, 48), 41, (16, 3, 2), (1, 0, 40)),
     lambda array, zero: np.tile(array[1:, 1:17], (1, 3))),
    ("tiled_transposed", (3, 16), attributes((32, 3), 0, (3, 16, 2), (16, 1, 0)),
     lambda array, zero: np.tile(array, (1, 2)).T),
    ("nothing_inside", (5,), attributes((4,), 9, (4,), (1,), ((9, 5, (1,)),)),
     lambda array, zero: np.full((4,), zero, array.dtype)),
    ("one_element", (2, 3), attributes((1, 1), 4, (1,), (0,)), lambda array, zero: array[1:, 1:2]),
]
FEW = ("shuffle", "padded_transposed", "transposed")


def main():
    moves = Moves(__file__)
    for name, shape, values, move in CASES:
        moves.add(name, OP, values, shape, move, name in FEW)
    moves.write()


if __name__ == "__main__":
    main()
