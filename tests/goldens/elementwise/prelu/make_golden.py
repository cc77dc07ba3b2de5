"""Goldens of Prelu. Oracles: ONNX Runtime's PRelu for float32 where the slope
broadcasts to the input, NumPy in float64 for the rest. A float32 result is one
product of float32 operands, so all are compared exactly."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from broadcast import (F16, F32, I4A, I8A, I8D, I16A, I16D, I32, U4A, U8A, draw, title,
                       values)
from golden_format import Case, Suite, Tensor, per_tensor, store

KINDS = [
    ((F32, F32), F32), ((F16, F16), F16), ((U8A, I8A), ("uint8", per_tensor(0.083, 119))),
    ((U8A, U8A), ("uint8", per_tensor(0.17173, 119))),
    ((I8A, I8A), ("int8", per_tensor(0.0913, 5))),
    ((I16A, I16A), ("int16", per_tensor(0.0021, -117))),
    ((I8D, I8D), I8D), ((I16D, I16D), I16D),
    ((U4A, U4A), ("uint4", per_tensor(0.91, 7))), ((I4A, I4A), ("int4", per_tensor(0.91, -1))),
    ((U8A, F32), ("uint8", per_tensor(0.083, 119))), ((U8A, F32), F32),
    ((F32, F32), ("uint8", per_tensor(0.037, 119))), ((I8A, F16), F16),
]
# name, input, slope (row-major), axis (fastest first), as what the slope is taken
SHAPES = [
    ("same", (2, 3, 4, 5), (2, 3, 4, 5), 0, None),
    ("fastest", (2, 3, 4, 5), (5,), 0, None),
    ("channel", (2, 3, 4, 5), (3, 1, 1), 2, None),
    ("channel_32", (2, 32, 3, 5), (32, 1, 1), 2, None),
    ("along_axis", (2, 3, 4, 5), (3,), 2, (3, 1, 1)),
    ("along_axis_32", (1, 32, 4, 5), (32,), -2, (32, 1, 1)),
    ("one", (3, 7), (1,), 1, None),
    ("slope_is_larger", (1, 7), (3, 7), 0, None),
]


def prelu(x, slope):
    return np.where(x >= 0, x, x * slope)


def case(rng, shape, slope_shape, axis, taken, kinds, out):
    x, slope = draw(rng, kinds[0], shape), draw(rng, kinds[1], slope_shape)
    factor = values(slope).reshape(taken or slope_shape)
    real = prelu(values(x), factor)
    if kinds == (F32, F32) and out == F32 and real.shape == shape:
        found = oracle.run_onnx("PRelu", [x.array, factor.astype(np.float32)])
        oracle.require_equal(found, real.astype(np.float32), "ORT PRelu")
    fixed = kinds[0] in (I8D, I16D)
    tensor = store(real, *out, exact=fixed) if out[0] not in ("float32", "float16") else store(
        real, *out)
    return Case("tim.Prelu", {"axis": axis}, [x, slope], tensor)


def plain(rng):
    x = Tensor("int32", rng.integers(-100000, 100000, (4, 33)))
    slope = Tensor("int32", rng.integers(-100000, 100000, (33,)))
    exact = prelu(x.array.astype(np.int64), slope.array.astype(np.int64))
    return Case("tim.Prelu", {"axis": 0}, [x, slope],
                Tensor("int32", np.clip(exact, -(2**31), 2**31 - 1)))


def special(rng):
    x = np.array([np.inf, -np.inf, 0.0, -0.0, -1e-44, 3e38, -3e38], np.float32)
    slope = np.array([2, 0.5, -1, -1, 0.25, 10, 10], np.float32)
    with np.errstate(all="ignore"):
        out = prelu(x, slope)
    return Case("tim.Prelu", {"axis": 0}, [Tensor("float32", x), Tensor("float32", slope)],
                Tensor("float32", out))


def main():
    suite = Suite(__file__, onnxruntime)
    for name, shape, slope, axis, taken in SHAPES:
        for kinds, out in KINDS if name in ("same", "channel", "along_axis") else KINDS[:3]:
            suite.add(f"{title(kinds, out)}_{name}",
                      lambda rng: case(rng, shape, slope, axis, taken, kinds, out))
    suite.add("i32_plain", plain)
    suite.add("f32_special", special)
    suite.write()


if __name__ == "__main__":
    main()
