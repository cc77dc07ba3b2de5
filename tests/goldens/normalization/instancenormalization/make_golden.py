"""Goldens of InstanceNormalization: NumPy in float64, checked against ONNX
Runtime's. Inputs are input, beta, gamma; shapes here are [N, C, ...]."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from norm_golden import (F16, FLOAT, I8, I8D, I16, I16D, I32, U8, F32, finish, has_few, make_input,
                         parameter, reals)
import oracle
from golden_format import Suite

KINDS = [("f32", FLOAT, FLOAT), ("f16", F16, F16), ("u8", U8, U8), ("i8", I8, I8),
         ("i16", I16, I16), ("i8d", I8D, I8D), ("i16d", I16D, I16D), ("i32", I32, I32),
         ("u8_to_f32", U8, FLOAT), ("f32_to_u8", FLOAT, U8)]
SHAPES = [("2_2_2_2", (2, 2, 2, 2)), ("1_6_3", (1, 6, 3)), ("1_6_3_2", (1, 6, 3, 2)),
          ("1_1_1", (1, 1, 1)), ("2_17_5_7", (2, 17, 5, 7)), ("1_33_1_1", (1, 33, 1, 1)),
          ("1_3_9_15", (1, 3, 9, 15)), ("2_3_2_3_4", (2, 3, 2, 3, 4))]


def case(rng, kinds, shape, types=("float32", "float32"), eps=1e-5, role="var"):
    eps = float(F32(eps))
    x = make_input(rng, kinds[0], shape)
    beta = parameter(rng, types[0], shape[1:2], -1, 1, role)
    gamma = parameter(rng, types[1], shape[1:2], 0.5, 1.5, role)
    real, place = reals(x), (1, -1) + (1,) * (len(shape) - 2)
    b, g = (reals(t).reshape(place) for t in (beta, gamma))
    axes = tuple(range(2, len(shape)))
    d = real - real.mean(axis=axes, keepdims=True)
    y = g * d / np.sqrt((d**2).mean(axis=axes, keepdims=True) + eps) + b
    found = oracle.run_onnx("InstanceNormalization", [
        real.astype(F32), reals(gamma).astype(F32), reals(beta).astype(F32)], epsilon=eps)
    oracle.require_close(found, y, "ORT InstanceNormalization",
                         1e-4 + 5e-5 * np.abs(real).max())
    return finish("tim.InstanceNormalization", {"eps": eps}, [x, beta, gamma], y, kinds[1],
                  np.abs(y - b) + np.abs(b))


def constant_images(rng):
    """Images of equal elements give exactly beta."""
    x = make_input(rng, FLOAT, (2, 5, 7, 9))
    x.array[:] = x.array[:, :, :1, :1]
    beta, gamma = (parameter(rng, "float32", (5,), 0.5, 1.5) for _ in range(2))
    y = np.broadcast_to(beta.array.reshape(1, 5, 1, 1), x.array.shape)
    result = finish("tim.InstanceNormalization", {"eps": float(F32(1e-5))}, [x, beta, gamma], y,
                    FLOAT)
    result.tolerance = "exact"
    return result


def main():
    suite = Suite(__file__, onnxruntime)
    for name, *kinds in KINDS:
        for shape_name, shape in SHAPES:
            if not has_few(shape, kinds[1]):
                continue
            suite.add(f"{name}_{shape_name}", lambda rng: case(rng, kinds, shape))
    for types in (("float16", "float16"), ("float32", "float16"), ("float16", "float32")):
        name = "_".join(t.replace("float", "f") for t in types)
        suite.add(f"f16_parameters_{name}",
                  lambda rng: case(rng, (F16, F16), (2, 3, 4, 5), types))
    suite.add("f32_constant", lambda rng: case(
        rng, (FLOAT, FLOAT), (1, 17, 3, 3), role="const", eps=1e-4))
    suite.add("f32_constant_images", constant_images)
    suite.write()


if __name__ == "__main__":
    main()
