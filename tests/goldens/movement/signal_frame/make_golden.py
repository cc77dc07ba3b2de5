"""Goldens of SignalFrame. Oracle: tf.signal.frame, whose frames come before the
window; what is beyond the end is the code of 0."""

import os
import sys

import numpy as np
import tensorflow

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from moved import Moves, widened

# name, input (row-major), window, step, pad_end, axis (fastest-first)
FRAMES = [
    ("r1", (33,), 5, 3, 0, 0),
    ("r1_padded", (33,), 5, 3, 1, 0),
    ("r1_longer_than_signal", (3,), 7, 2, 1, 0),
    ("r2", (3, 10), 4, 2, 0, 0),
    ("r2_padded", (3, 10), 4, 3, 1, 0),
    ("r2_gaps", (3, 20), 2, 5, 1, 0),
    ("r2_axis1", (10, 3), 4, 2, 0, 1),
    ("r2_axis1_padded", (10, 17), 4, 3, 1, 1),
    ("r3_axis1", (2, 9, 5), 3, 2, 1, 1),
    ("r4_wide", (2, 2, 3, 100), 33, 16, 1, 0),
]
FEW = ("r2_padded", "r2_axis1_padded")


def framed(array, zero, window, step, pad_end, axis):
    at = array.ndim - 1 - axis
    found = tensorflow.signal.frame(widened(array), window, step, pad_end=bool(pad_end),
                                    pad_value=zero, axis=at).numpy()
    return found.astype(array.dtype)


def main():
    moves = Moves(__file__, tensorflow)
    for name, shape, window, step, pad_end, axis in FRAMES:
        attributes = {"window_length": window, "step": step, "pad_end": pad_end, "axis": axis}
        moves.add(name, "tim.SignalFrame", attributes, shape,
                  lambda array, zero: framed(array, zero, window, step, pad_end, axis),
                  name in FEW)
    moves.write()


if __name__ == "__main__":
    main()
