"""Goldens of LocalResponseNormalization: NumPy in float64, checked against ONNX
Runtime's LRN (axis 1 of rank 4, whose alpha is size times ours) where the size
is odd."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from norm_golden import (F16, FLOAT, I8D, I16D, U8, F32, finish, has_few, make_input, our_axis,
                         reals)
import oracle
from golden_format import Suite

KINDS = [("f32", FLOAT, FLOAT), ("f16", F16, F16), ("u8", U8, U8), ("i8d", I8D, I8D),
         ("i16d", I16D, I16D), ("u8_to_f32", U8, FLOAT), ("f32_to_u8", FLOAT, U8)]
# size, alpha, beta, bias
SETTINGS = [("5", 5, 4.0, 0.5, 9.0), ("alexnet", 5, 1e-4 / 5, 0.75, 1.0),
            ("1", 1, 0.5, 1.0, 2.0), ("even", 4, 0.3, 0.75, 2.0), ("wide", 41, 0.1, 0.6, 1.5)]
SHAPES = [("1", (1,), 0), ("1_1_1_6", (1, 1, 1, 6), 3), ("6_2", (6, 2), 0), ("2_33", (2, 33), 1),
          ("2_7_3_5", (2, 7, 3, 5), 1), ("3_20_4", (3, 20, 4), 1)]


def lrn(x, axis, size, alpha, beta, bias):
    x = np.moveaxis(x, axis, -1)
    reach, count = size // 2, x.shape[-1]
    total = np.zeros_like(x)
    for i in range(count):
        window = x[..., max(0, i - reach):i + reach + 1]
        total[..., i] = np.sum(window**2, axis=-1)
    return np.moveaxis(x / (bias + alpha * total)**beta, -1, axis)


def check(x, y, axis, size, alpha, beta, bias):
    """In the place that ONNX wants: [N, C, H, W]."""
    moved = np.moveaxis(x, axis, -1)
    four = moved.reshape(-1, moved.shape[-1], 1, 1).astype(F32)
    found = oracle.run_onnx("LRN", [four], size=size, alpha=alpha * size, beta=beta, bias=bias)
    found = np.moveaxis(found.reshape(moved.shape), -1, axis)
    oracle.require_close(found, y, "ORT LRN", 3e-6 * np.abs(y).max(initial=1))


def case(rng, kinds, shape, axis, size, *numbers, negative=False):
    numbers = [float(F32(v)) for v in numbers]
    x = make_input(rng, kinds[0], shape)
    real = reals(x)
    y = lrn(real, axis, size, *numbers)
    if size % 2:
        check(real, y, axis, size, *numbers)
    attributes = {"size": size, "alpha": numbers[0], "beta": numbers[1], "bias": numbers[2],
                  "axis": our_axis(axis, len(shape), negative)}
    return finish("tim.LocalResponseNormalization", attributes, [x], y, kinds[1])


def main():
    suite = Suite(__file__, onnxruntime)
    for name, *kinds in KINDS:
        for shape_name, shape, axis in SHAPES:
            if not has_few(shape, kinds[1]):
                continue
            for setting, *numbers in SETTINGS if name == "f32" else SETTINGS[:2]:
                suite.add(f"{name}_{shape_name}_size_{setting}",
                          lambda rng: case(rng, kinds, shape, axis, *numbers))
    suite.add("f32_negative_axis", lambda rng: case(
        rng, (FLOAT, FLOAT), (2, 3, 9), 1, 3, 1.0, 0.5, 1.0, negative=True))
    suite.write()


if __name__ == "__main__":
    main()
