"""Goldens of ArgMax and ArgMin. Oracles: ONNX Runtime's ArgMax and ArgMin, NumPy
(the first index of equal elements)."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import NONE, Case, Suite, Tensor, fixed_point, per_tensor, random_tensor


def case_of(rng, op, shape, axis, kind, out="int32", negative=False, data=None):
    """`axis` counts row-major; fastest-first it is rank - 1 - axis."""
    x = random_tensor(rng, kind[0], shape, kind[1])
    if data is not None:
        x = Tensor(kind[0], data(rng, shape), kind[1])
    numbers = x.array.astype(np.float32 if x.dtype.startswith("float") else np.int32)
    y = (np.argmax if op == "ArgMax" else np.argmin)(numbers, axis=axis)
    found = oracle.run_onnx(op, [numbers], np.int64, axis=axis, keepdims=0)
    oracle.require_equal(found, y, "ORT " + op)
    ours = len(shape) - 1 - axis
    return Case("tim." + op, {"axis": ours - len(shape) if negative else ours}, [x],
                Tensor(out, np.asarray(y).reshape(np.shape(y) or (1,))))


def first_nan(rng, op):
    """NaN beats nothing and, as element 0, is not beaten: a scan by > or <."""
    x = rng.standard_normal((4, 40)).astype(np.float32)
    x[1, 0] = x[2, 5] = x[2, 39] = np.nan
    x[3, 7] = np.inf if op == "ArgMax" else -np.inf
    best = []
    for row in x:
        at = 0
        for i, value in enumerate(row):
            if value > row[at] if op == "ArgMax" else value < row[at]:
                at = i
        best.append(at)
    return Case("tim." + op, {"axis": 0}, [Tensor("float32", x)], Tensor("int32", best))


SHAPES = [
    ("r1_1", (1,), 0), ("r1_33", (33,), 0), ("r1_9000", (9000,), 0), ("r2_axis0", (5, 37), 1),
    ("r2_axis1", (37, 21), 0), ("r2_short", (19, 3), 1), ("r2_few_columns", (35, 3), 0),
    ("r2_2x2_axis0", (2, 2), 1), ("r2_2x2_axis1", (2, 2), 0), ("r3_axis1", (3, 5, 17), 1),
    ("r4_axis2", (2, 3, 5, 7), 1), ("r4_axis3", (6, 3, 2, 2), 0), ("r3_extent_1", (3, 1, 4), 1),
    ("r2_chunks_of_columns", (8200, 2), 0),
]
KINDS = [
    ("f16", ("float16", NONE)), ("i32", ("int32", NONE)), ("u8", ("uint8", per_tensor(0.05, 121))),
    ("i8", ("int8", per_tensor(0.04, -7))), ("i16", ("int16", per_tensor(0.0003, 300))),
    ("i8d", ("int8", fixed_point(5))), ("i16d", ("int16", fixed_point(12))),
]
F32 = ("float32", NONE)


def few_values(rng, shape):
    """Many equal elements."""
    return rng.integers(0, 3, shape)


def main():
    suite = Suite(__file__, onnxruntime)
    for op in ("ArgMax", "ArgMin"):
        for i, (name, shape, axis) in enumerate(SHAPES):
            suite.add(f"{op}_f32_{name}", lambda rng: case_of(
                rng, op, shape, axis, F32, negative=i % 2 == 0))
            suite.add(f"{op}_f32_equal_{name}", lambda rng: case_of(
                rng, op, shape, axis, F32, data=few_values))
        for kind_name, kind in KINDS:
            for name, shape, axis in SHAPES[1:10:2]:
                suite.add(f"{op}_{kind_name}_{name}", lambda rng: case_of(
                    rng, op, shape, axis, kind, data=few_values if axis else None))
        suite.add(f"{op}_f32_to_i16", lambda rng: case_of(rng, op, (5, 37), 1, F32, "int16"))
        suite.add(f"{op}_u8_to_u8", lambda rng: case_of(rng, op, (5, 37), 1, KINDS[2][1], "uint8"))
        suite.add(f"{op}_f32_nan", lambda rng: first_nan(rng, op))
    suite.write()


if __name__ == "__main__":
    main()
