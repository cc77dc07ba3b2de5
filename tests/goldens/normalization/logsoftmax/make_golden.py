"""Goldens of LogSoftmax: NumPy in float64, checked against ONNX Runtime's."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from norm_golden import (F16, FLOAT, I8, I8D, I16, I16D, U8, F32, finish, fixed_point,
                         has_few, make_input, our_axis, per_tensor, reals)
import oracle
from golden_format import Suite

OUT_U8, OUT_I8 = ("uint8", per_tensor(0.06, 255)), ("int8", per_tensor(0.06, 127))
OUT_I16 = ("int16", per_tensor(0.001, 30000))
OUT_I8D, OUT_I16D = ("int8", fixed_point(3)), ("int16", fixed_point(10))
KINDS = [("f32", FLOAT, FLOAT), ("f16", F16, F16), ("u8", U8, OUT_U8), ("i8", I8, OUT_I8),
         ("i16", I16, OUT_I16), ("i8d", I8D, OUT_I8D), ("i16d", I16D, OUT_I16D),
         ("u8_to_f16", U8, F16), ("i8_to_f16", I8, F16), ("i16_to_f16", I16, F16),
         ("i8d_to_f16", I8D, F16), ("i16d_to_f16", I16D, F16), ("f32_to_f16", FLOAT, F16),
         ("u8_to_f32", U8, FLOAT)]
SHAPES = [("1", (1,), 0), ("1_6", (1, 6), 1), ("1_6_3", (1, 6, 3), 1), ("33", (33,), 0),
          ("2_65", (2, 65), 1), ("65_17", (65, 17), 0), ("2_3_4_5", (2, 3, 4, 5), 1)]


def log_softmax(x, beta, axis):
    t = beta * x
    t = t - t.max(axis=axis, keepdims=True)
    return t - np.log(np.sum(np.exp(t), axis=axis, keepdims=True))


def case(rng, kinds, shape, axis, beta=1.0, negative=False, data=None):
    x = make_input(rng, kinds[0], shape)
    if data is not None:
        x.array = data(x.array)
    real = reals(x)
    y = log_softmax(real, beta, axis)
    scaled = (real * beta).astype(F32)
    found = oracle.run_onnx("LogSoftmax", [scaled], axis=axis)
    size = float(np.max(np.abs(y), initial=1))
    oracle.require_close(found, y, "ORT LogSoftmax", 1e-6 * max(size, np.abs(scaled).max()))
    attributes = {"axis": our_axis(axis, len(shape), negative), "beta": float(F32(beta))}
    # The logarithm of a sum near 1 has the error of the sum.
    return finish("tim.LogSoftmax", attributes, [x], y, kinds[1], np.maximum(np.abs(y), 0.15))


def main():
    suite = Suite(__file__, onnxruntime)
    for name, *kinds in KINDS:
        for shape_name, shape, axis in SHAPES:
            if not has_few(shape, kinds[0]) or not has_few(shape, kinds[1]):
                continue
            suite.add(f"{name}_{shape_name}",
                      lambda rng: case(rng, kinds, shape, axis))
    for beta in (0.5, 3.0, -1.0, 0.0):
        suite.add(f"f32_beta_{str(beta).replace('.', '_').replace('-', 'minus_')}",
                  lambda rng: case(rng, (FLOAT, FLOAT), (3, 40), 1, beta))
    suite.add("f32_negative_axis",
              lambda rng: case(rng, (FLOAT, FLOAT), (3, 4, 5), 0, negative=True))
    suite.add("f32_far_apart",
              lambda rng: case(rng, (FLOAT, FLOAT), (3, 9), 1, data=lambda x: x * F32(100)))
    suite.write()


if __name__ == "__main__":
    main()
