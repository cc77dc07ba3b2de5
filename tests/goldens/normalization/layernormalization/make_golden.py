"""Goldens of LayerNormalization: NumPy in float64, checked against ONNX
Runtime's LayerNormalization with the axis moved to the end. Inputs are input,
beta, gamma; parameters are along the axis, in its place, or broadcast."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from norm_golden import (F16, FLOAT, I8, I8D, I16, I16D, U8, F32, finish, has_few, make_input,
                         our_axis, parameter, reals)
import oracle
from golden_format import Suite

KINDS = [("f32", FLOAT, FLOAT), ("f16", F16, F16), ("u8", U8, U8), ("i8", I8, I8),
         ("i16", I16, I16), ("i8d", I8D, I8D), ("i16d", I16D, I16D), ("u8_to_f32", U8, FLOAT),
         ("f32_to_u8", FLOAT, U8), ("f16_to_f32", F16, FLOAT)]
SHAPES = [("1", (1,), 0), ("1_6_3", (1, 6, 3), 2), ("1_6_3_2", (1, 6, 3, 2), 3),
          ("2_65", (2, 65), 1), ("70_20", (70, 20), 0), ("3_130", (3, 130), 1),
          ("40_9", (40, 9), 1), ("1_3_2_4_axis_1", (1, 3, 2, 4), 1),
          ("2_3_4_5_axis_2", (2, 3, 4, 5), 2)]


def shape_of(place, shape, axis):
    if place == "along":
        return (shape[axis],)
    if place == "in_place":
        return tuple(d if i == axis else 1 for i, d in enumerate(shape))
    return shape


def against(values, place, shape, axis):
    """Of a shape that NumPy broadcasts to the input."""
    return values.reshape(shape_of("in_place", shape, axis)) if place == "along" else values


def layer_norm(x, axis, eps, beta, gamma):
    d = x - x.mean(axis=axis, keepdims=True)
    variance = (d**2).mean(axis=axis, keepdims=True)
    return gamma * d / np.sqrt(variance + eps) + beta


def check(x, axis, eps, beta, gamma, y):
    count = x.shape[axis]
    last = [np.moveaxis(np.broadcast_to(v, x.shape), axis, -1) for v in (x, beta, gamma)]
    plain = oracle.run_onnx("LayerNormalization", [last[0].astype(F32), np.ones(count, F32)],
                            axis=-1, epsilon=eps)
    found = np.moveaxis(plain * last[2] + last[1], -1, axis)
    oracle.require_close(found, y, "ORT LayerNormalization", 5e-4)


def case(rng, kinds, shape, axis, place="along", types=("float32", "float32"), eps=1e-5,
         role="var", negative=False, shift=0.0):
    eps = float(F32(eps))
    x = make_input(rng, kinds[0], shape)
    x.array = (x.array + x.array.dtype.type(shift)).astype(x.array.dtype) if shift else x.array
    size = shape_of(place, shape, axis)
    beta = parameter(rng, types[0], size, -1, 1, role)
    gamma = parameter(rng, types[1], size, 0.5, 1.5, role)
    b, g = (against(reals(t), place, shape, axis) for t in (beta, gamma))
    y = layer_norm(reals(x), axis, eps, b, g)
    if not shift:
        check(reals(x), axis, eps, b, g, y)
    attributes = {"axis": our_axis(axis, len(shape), negative), "eps": eps}
    return finish("tim.LayerNormalization", attributes, [x, beta, gamma], y, kinds[1],
                  np.abs(y - b) + np.abs(b))


def constant_rows(rng):
    """Rows of equal elements give exactly beta."""
    x = make_input(rng, FLOAT, (5, 77))
    x.array[:] = x.array[:, :1]
    beta, gamma = (parameter(rng, "float32", (77,), 0.5, 1.5) for _ in range(2))
    y = np.broadcast_to(beta.array, (5, 77))
    result = finish("tim.LayerNormalization", {"axis": 0, "eps": float(F32(1e-5))},
                    [x, beta, gamma], y, FLOAT)
    result.tolerance = "exact"
    return result


def main():
    suite = Suite(__file__, onnxruntime)
    for name, *kinds in KINDS:
        for shape_name, shape, axis in SHAPES:
            if not has_few(shape, kinds[1]):
                continue
            suite.add(f"{name}_{shape_name}",
                      lambda rng: case(rng, kinds, shape, axis))
    for shape_name, shape, axis in SHAPES:
        for place in ("in_place", "broadcast"):
            suite.add(f"f32_{place}_{shape_name}",
                      lambda rng: case(rng, (FLOAT, FLOAT), shape, axis, place, eps=1e-3))
    suite.add("f16_parameters_f16", lambda rng: case(
        rng, (F16, F16), (3, 33), 1, types=("float32", "float16")))
    suite.add("f32_constant", lambda rng: case(
        rng, (FLOAT, FLOAT), (3, 33), 1, role="const", eps=2e-5))
    suite.add("f32_negative_axis", lambda rng: case(
        rng, (FLOAT, FLOAT), (3, 4, 5), 1, negative=True))
    suite.add("f32_constant_rows", constant_rows)
    # Every x is rounded to a multiple of 2^-11 or so, but not y.
    suite.add("f32_far_from_zero", lambda rng: case(
        rng, (FLOAT, FLOAT), (3, 200), 1, shift=1e4))
    suite.write()


if __name__ == "__main__":
    main()
