"""Goldens of BatchNorm: NumPy in float64, checked against ONNX Runtime's
BatchNormalization. Inputs are input, mean, variance, gamma, beta; shapes here
are [N, C, ...], channels alone or [N, C] up to rank 2."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from norm_golden import (F16, FLOAT, I8, I8D, I16, I16D, U8, F32, finish, has_few, make_input,
                         parameter, reals)
import oracle
from golden_format import Suite

KINDS = [("f32", FLOAT, FLOAT), ("f16", F16, F16), ("u8", U8, U8), ("i8", I8, I8),
         ("i16", I16, I16), ("i8d", I8D, I8D), ("i16d", I16D, I16D), ("u8_to_f32", U8, FLOAT),
         ("f32_to_u8", FLOAT, U8)]
SHAPES = [("7", (7,)), ("3_20", (3, 20)), ("2_5_33", (2, 5, 33)), ("1_2_3_3", (1, 2, 3, 3)),
          ("2_17_5_7", (2, 17, 5, 7)), ("1_40_1_1", (1, 40, 1, 1)), ("2_3_2_3_4", (2, 3, 2, 3, 4))]
RANGES = [(-1, 1), (0.2, 2), (0.5, 1.5), (-1, 1)]


def case(rng, kinds, shape, role="var", types=("float32",) * 4, sizes=(None,) * 4, eps=1e-3):
    eps = float(F32(eps))
    axis = 1 if len(shape) > 1 else 0
    place = tuple(d if i == axis else 1 for i, d in enumerate(shape))
    x = make_input(rng, kinds[0], shape)
    parameters = [
        parameter(rng, dtype, size or (shape[axis],), low, high, role)
        for dtype, size, (low, high) in zip(types, sizes, RANGES)]
    m, v, g, b = (reals(p) if size else reals(p).reshape(place)
                  for p, size in zip(parameters, sizes))
    factor = g / np.sqrt(v + eps)
    y = factor * (reals(x) - m) + b
    if not any(sizes):
        real = reals(x).astype(F32).reshape(shape if len(shape) > 1 else (1,) + shape)
        values = [reals(parameters[i]).astype(F32) for i in (2, 3, 0, 1)]
        found = oracle.run_onnx("BatchNormalization", [real] + values, epsilon=eps)
        oracle.require_close(found.reshape(shape), y, "ORT BatchNormalization", 2e-5)
    magnitude = np.abs(factor) * (np.abs(reals(x)) + np.abs(m)) + np.abs(b)
    return finish("tim.BatchNorm", {"eps": eps}, [x] + parameters, y, kinds[1],
                  np.broadcast_to(magnitude, shape))


def main():
    suite = Suite(__file__, onnxruntime)
    for name, *kinds in KINDS:
        for shape_name, shape in SHAPES:
            if not has_few(shape, kinds[1]):
                continue
            for role in ("var", "const"):
                suite.add(f"{name}_{shape_name}_{role}",
                          lambda rng: case(rng, kinds, shape, role))
    half = ("float16", "float16", "float16", "float32")
    suite.add("f16_parameters_f16",
              lambda rng: case(rng, (F16, F16), (2, 3, 4, 5), types=half))
    suite.add("f32_broadcast", lambda rng: case(
        rng, (FLOAT, FLOAT), (2, 3, 4, 5), sizes=((5,), (4, 1), (3, 1, 5), (2, 3, 4, 5))))
    suite.add("f32_channels_in_place", lambda rng: case(
        rng, (FLOAT, FLOAT), (2, 19, 4, 5), sizes=((19, 1, 1),) * 4))
    suite.write()


if __name__ == "__main__":
    main()
