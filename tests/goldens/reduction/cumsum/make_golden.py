"""Goldens of CumSum. Oracles: ONNX Runtime's CumSum; NumPy in float64 and int64.
The tolerance of float32 is 1e-6 of the largest sum of magnitudes."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, Case, Suite, Tensor, close, fit, fixed_point,
                           per_tensor, random_tensor, store)


def cumsum(x, axis, exclusive, reverse):
    x = np.flip(x, axis) if reverse else x
    y = np.cumsum(x, axis=axis)
    y = y - x if exclusive else y
    return np.flip(y, axis) if reverse else y


def case_of(rng, shape, axis, x_kind, out=None, exclusive=0, reverse=0, negative=False,
            data=None):
    """`axis` counts row-major; fastest-first it is rank - 1 - axis."""
    x = random_tensor(rng, x_kind[0], shape, x_kind[1])
    if data is not None:
        x = Tensor(x_kind[0], data(rng, shape), x_kind[1])
    out = out or x_kind
    tolerance = EXACT
    if out == x_kind and x_kind[0] in ("int32", "uint32"):
        exact = cumsum(x.array.astype(object), axis, exclusive, reverse)
        y = Tensor(out[0], fit(exact, out[0]))
    else:
        real = cumsum(x.real(), axis, exclusive, reverse)
        # Sums of codes and of random_tensor's halves are exact in float32.
        sums = np.abs(x.real()) if x.dtype == "float32" else 0
        sizes = np.maximum(np.abs(real), cumsum(sums + 0 * real, axis, 0, reverse))
        y = store(real, *out, magnitude=sizes)
        if out[0] == "float32":
            tolerance = close(1e-6 * sizes.max())
    if x_kind[0] in ("float32", "int32") and data is None:
        found = oracle.run_onnx("CumSum", [x.array, np.array(axis, np.int32)],
                                exclusive=exclusive, reverse=reverse)
        expected = cumsum(x.real(), axis, exclusive, reverse)
        oracle.require_close(found, expected, "ORT CumSum", 1e-5 * np.abs(x.real()).sum())
    ours = len(shape) - 1 - axis
    attributes = {"axis": ours - len(shape) if negative else ours}
    attributes |= {"exclusive": exclusive} if exclusive else {}
    attributes |= {"reverse": reverse} if reverse else {}
    return Case("tim.CumSum", attributes, [x], y, tolerance)


SHAPES = [
    ("r1_1", (1,), 0), ("r1_33", (33,), 0), ("r2_axis0", (5, 37), 1), ("r2_axis1", (13, 21), 0),
    ("r2_2x4_axis0", (2, 4), 1), ("r2_2x4_axis1", (2, 4), 0), ("r2_few_columns", (35, 3), 0),
    ("r3_axis1", (3, 5, 17), 1), ("r4_axis2", (2, 3, 5, 7), 1), ("r3_extent_1", (3, 1, 4), 1),
    ("r1_1000", (1000,), 0),
]
MODES = [("", 0, 0), ("_exclusive", 1, 0), ("_reverse", 0, 1), ("_exclusive_reverse", 1, 1)]
U8, I8 = ("uint8", per_tensor(0.02, 121)), ("int8", per_tensor(0.017, -7))
F16, F32 = ("float16", NONE), ("float32", NONE)
KINDS = [
    ("f16", F16, None), ("i32", ("int32", NONE), None), ("u32", ("uint32", NONE), None),
    ("u8", U8, ("uint8", per_tensor(0.0531, 90))), ("u8_same", U8, None),
    ("i8", I8, ("int8", per_tensor(0.0437, 4))),
    ("i16", ("int16", per_tensor(0.0001, 300)), ("int16", per_tensor(0.00171, -20))),
    ("i8d", ("int8", fixed_point(6)), None), ("i16d", ("int16", fixed_point(14)), None),
    ("u8_to_f32", U8, F32), ("f32_to_u8", F32, ("uint8", per_tensor(0.0531, 90))),
]


def main():
    suite = Suite(__file__, onnxruntime)
    for i, (name, shape, axis) in enumerate(SHAPES):
        for mode, exclusive, reverse in MODES:
            suite.add(f"f32_{name}{mode}", lambda rng: case_of(
                rng, shape, axis, F32, None, exclusive, reverse, i % 2 == 0))
            for kind, x, out in KINDS:
                if name in ("r1_33", "r2_axis1", "r2_few_columns"):
                    suite.add(f"{kind}_{name}{mode}", lambda rng: case_of(
                        rng, shape, axis, x, out, exclusive, reverse))
    suite.add("i32_saturates", lambda rng: case_of(
        rng, (2, 9), 1, ("int32", NONE),
        data=lambda r, s: r.integers(2**29, 2**31, s) * np.array([[1], [-1]])))
    suite.write()


if __name__ == "__main__":
    main()
