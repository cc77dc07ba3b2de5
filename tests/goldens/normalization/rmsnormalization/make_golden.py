"""Goldens of RmsNormalization: NumPy in float64, checked against ONNX Runtime's
SimplifiedLayerNormalization."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from norm_golden import (F16, FLOAT, I8, I8D, I16, I16D, U8, F32, finish, has_few,
                         make_input, our_axis, parameter, reals)
import oracle
from golden_format import Suite

KINDS = [("f32", FLOAT, FLOAT), ("f16", F16, F16), ("u8", U8, U8), ("i8", I8, I8),
         ("i16", I16, I16), ("i8d", I8D, I8D), ("i16d", I16D, I16D),
         ("u8_to_f32", U8, FLOAT), ("f32_to_u8", FLOAT, U8), ("f16_to_f32", F16, FLOAT)]
SHAPES = [("1", (1,), 0), ("33", (33,), 0), ("2_65", (2, 65), 1), ("65_17", (65, 17), 0),
          ("2_5_4", (2, 5, 4), 1), ("2_3_4_5", (2, 3, 4, 5), 1), ("2_1_3_2_9", (2, 1, 3, 2, 9), 4)]


def gamma_shape(place, shape, axis):
    """The extents of gamma in row-major order."""
    if place == "along":
        return (shape[axis],)
    if place == "in_place":
        return tuple(n if i == axis else 1 for i, n in enumerate(shape))
    return tuple(n if i % 2 == 0 else 1 for i, n in enumerate(shape))


def check(x, axis, eps, y):
    rows = np.moveaxis(x, axis, -1).astype(F32)
    found = oracle.run_onnx("SimplifiedLayerNormalization", [rows, np.ones(x.shape[axis], F32)],
                            axis=-1, epsilon=eps)
    oracle.require_close(np.moveaxis(found, -1, axis), y, "ORT SimplifiedLayerNormalization", 1e-5)


def case(rng, kinds, shape, axis, place="along", dtype="float32", eps=1e-5, role="var",
         negative=False):
    eps = float(F32(eps))
    x = make_input(rng, kinds[0], shape)
    real = reals(x)
    y = real / np.sqrt((real**2).mean(axis=axis, keepdims=True) + eps)
    check(real, axis, eps, y)
    inputs = [x]
    if place is not None:
        gamma = parameter(rng, dtype, gamma_shape(place, shape, axis), 0.5, 1.5, role)
        values = reals(gamma)
        if place == "along":
            values = values.reshape(gamma_shape("in_place", shape, axis))
        y = y * values
        inputs.append(gamma)
    attributes = {"axis": our_axis(axis, len(shape), negative), "eps": eps}
    return finish("tim.RmsNormalization", attributes, inputs, y, kinds[1])


def main():
    suite = Suite(__file__, onnxruntime)
    for name, *kinds in KINDS:
        for shape_name, shape, axis in SHAPES:
            if not has_few(shape, kinds[1]):
                continue
            suite.add(f"{name}_{shape_name}", lambda rng: case(rng, kinds, shape, axis))
    for shape_name, shape, axis in SHAPES:
        for place in (None, "in_place", "broadcast"):
            suite.add(f"f32_{place or 'without'}_{shape_name}",
                      lambda rng: case(rng, (FLOAT, FLOAT), shape, axis, place, eps=1e-3))
    suite.add("f16_gamma_f16", lambda rng: case(
        rng, (F16, F16), (3, 33), 1, dtype="float16"))
    suite.add("f32_constant", lambda rng: case(
        rng, (FLOAT, FLOAT), (3, 33), 1, role="const", eps=2e-5))
    suite.add("f32_negative_axis", lambda rng: case(
        rng, (FLOAT, FLOAT), (3, 4, 5), 1, negative=True))
    suite.write()


if __name__ == "__main__":
    main()
