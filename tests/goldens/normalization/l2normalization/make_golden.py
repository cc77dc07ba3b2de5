"""Goldens of L2Normalization: NumPy in float64, checked against ONNX Runtime's
LpNormalization with p = 2."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from norm_golden import (F16, FLOAT, I8D, I16D, I32, U8, F32, finish, fixed_point,
                         has_few, make_input, our_axis, per_tensor, reals)
import oracle
from golden_format import Suite

UNIT_U8 = ("uint8", per_tensor(1 / 120, 127))
UNIT_I8D, UNIT_I16D = ("int8", fixed_point(7)), ("int16", fixed_point(14))
KINDS = [("f32", FLOAT, FLOAT), ("f16", F16, F16), ("u8", U8, UNIT_U8),
         ("i8d", I8D, UNIT_I8D), ("i16d", I16D, UNIT_I16D), ("i32", I32, I32),
         ("f32_to_u8", FLOAT, UNIT_U8), ("u8_to_f32", U8, FLOAT), ("f16_to_f32", F16, FLOAT)]
SHAPES = [("1", (1,), 0), ("33", (33,), 0), ("3_2_axis_0", (3, 2), 0), ("3_2_axis_1", (3, 2), 1),
          ("2_65", (2, 65), 1), ("65_17", (65, 17), 0), ("2_5_4", (2, 5, 4), 1),
          ("2_3_4_5", (2, 3, 4, 5), 1), ("1_128_2_3", (1, 128, 2, 3), 1),
          ("2_1_3_2_9", (2, 1, 3, 2, 9), 4)]


def case(rng, kinds, shape, axis, negative=False):
    x = make_input(rng, kinds[0], shape)
    real = reals(x)
    squares = np.sum(real**2, axis=axis, keepdims=True)
    y = real / np.sqrt(np.maximum(squares, 1e-12))
    if np.all(squares > 1e-6):
        found = oracle.run_onnx("LpNormalization", [real.astype(F32)], p=2, axis=axis)
        oracle.require_close(found, y, "ORT LpNormalization", 1e-6)
    attributes = {"axis": our_axis(axis, len(shape), negative)}
    return finish("tim.L2Normalization", attributes, [x], y, kinds[1])


def zeros(rng):
    """A row of zeros, and one below the least sum."""
    result = case(rng, (FLOAT, FLOAT), (3, 5), 1)
    x = result.inputs[0].array
    x[0] = 0
    x[1] = [1e-7, 0, -1e-7, 0, 2e-7]
    y = result.outputs[0].array
    y[:2] = (x[:2].astype(np.float64) / 1e-6).astype(F32)
    return result


def main():
    suite = Suite(__file__, onnxruntime)
    for name, *kinds in KINDS:
        for shape_name, shape, axis in SHAPES:
            if not has_few(shape, kinds[1]):
                continue
            suite.add(f"{name}_{shape_name}", lambda rng: case(rng, kinds, shape, axis))
    suite.add("f32_negative_axis",
              lambda rng: case(rng, (FLOAT, FLOAT), (3, 4, 5), 1, negative=True))
    suite.add("f32_zeros", zeros)
    suite.write()


if __name__ == "__main__":
    main()
