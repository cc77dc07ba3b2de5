"""Goldens of Moments. Oracles: ONNX Runtime's ReduceMean, of the input and of
squared differences; NumPy in float64. Tolerance: a few roundings of float32, and
the sums' 1e-6 of the largest sum of magnitudes."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, Case, Suite, Tensor, close, fixed_point, is_float,
                           per_tensor, random_tensor, store)


def check_with_onnx(x, axes, mean, variance):
    axes = np.array(axes, np.int64)
    found = oracle.run_onnx("ReduceMean", [x, axes], keepdims=1)
    oracle.require_close(found, mean, "ORT ReduceMean", 1e-6 * max(10, np.abs(x).max()))
    found = oracle.run_onnx("ReduceMean", [(x - found) ** 2, axes], keepdims=1)
    oracle.require_close(found, variance, "ORT variance", 1e-4 * max(1, variance.max()))


def case_of(rng, shape, axes, keep, kind, out, negative=False, offset=0.0):
    """`axes` count row-major; fastest-first they are rank - 1 - axis."""
    x = random_tensor(rng, kind[0], shape, kind[1])
    if offset:
        x = Tensor("float32", x.array + np.float32(offset))
    real = x.real()
    mean, variance = real.mean(axis=axes, keepdims=True), real.var(axis=axes, keepdims=True)
    if kind[0] == "float32":
        check_with_onnx(x.array, axes, mean, variance)
    kept = mean.shape if keep else np.squeeze(mean, axes).shape or (1,)
    size = np.abs(real).mean(axis=axes, keepdims=True)
    outputs = [store(mean.reshape(kept), *out, magnitude=size.reshape(kept), error=6e-7),
               store(variance.reshape(kept), *out, magnitude=variance.reshape(kept),
                     error=2e-6)]
    tolerance = EXACT
    if out[0] == "float32":
        tolerance = close(1e-6 * max(1, np.abs(real).max()), 2e-6)
    ours = [len(shape) - 1 - a for a in axes]
    attributes = {"axes": [a - len(shape) if negative else a for a in ours]}
    attributes |= {"keep_dims": True} if keep else {}
    return Case("tim.Moments", attributes, [x], outputs, tolerance)


# name, shape (row-major), axes (row-major)
SHAPES = [
    ("r1_1", (1,), (0,)), ("r1_33", (33,), (0,)), ("r1_5000", (5000,), (0,)),
    ("r2_fastest", (5, 37), (1,)), ("r2_slowest", (37, 21), (0,)), ("r2_all", (7, 9), (0, 1)),
    ("r2_few_columns", (35, 3), (0,)), ("r3_middle", (3, 5, 17), (1,)),
    ("r3_ends", (3, 17, 5), (0, 2)), ("r4_image", (2, 3, 5, 7), (2, 3)),
    ("r4_alternate", (3, 4, 5, 6), (1, 3)), ("r4_batch", (3, 4, 5, 6), (0, 2, 3)),
    ("r2_chunks", (2, 2049), (1,)), ("r2_chunks_of_columns", (1030, 17), (0,)),
]
F16, F32 = ("float16", NONE), ("float32", NONE)
U8 = ("uint8", per_tensor(0.02, 121))
KINDS = [
    ("f16", F16, F16), ("f16_to_f32", F16, F32), ("i32_to_f32", ("int32", NONE), F32),
    ("u8_to_f32", U8, F32), ("u8_to_f16", U8, F16), ("u8", U8, ("uint8", per_tensor(0.0137, 90))),
    ("i8_to_f32", ("int8", per_tensor(0.017, -7)), F32), ("i8d_to_f32", ("int8", fixed_point(6)), F32),
    ("i16_to_f32", ("int16", per_tensor(0.0001, 300)), F32),
    ("i16d_to_f16", ("int16", fixed_point(14)), F16),
]


def main():
    suite = Suite(__file__, onnxruntime)
    for i, (name, shape, axes) in enumerate(SHAPES):
        suite.add(f"f32_{name}", lambda rng: case_of(
            rng, shape, axes, i % 2 == 0, F32, F32, negative=i % 3 == 0))
        for kind_name, kind, out in KINDS:
            if name in ("r2_fastest", "r2_slowest", "r4_image", "r3_ends"):
                suite.add(f"{kind_name}_{name}", lambda rng: case_of(
                    rng, shape, axes, i % 2 == 1, kind, out))
    # A mean far from 0: E[x^2] - mean^2 would lose the variance.
    suite.add("f32_far_from_0", lambda rng: case_of(
        rng, (4, 100), (1,), False, F32, F32, offset=1000.0))
    suite.write()


if __name__ == "__main__":
    main()
