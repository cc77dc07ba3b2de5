"""Goldens of Topk. Oracles: ONNX Runtime's TopK (values), NumPy's stable sort (of
equal elements the smaller index comes first)."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (NONE, Case, Suite, Tensor, fixed_point, is_float, per_tensor,
                           random_tensor, store)


def case_of(rng, shape, axis, k, kind, out=None, negative=False, data=None):
    """`axis` counts row-major; fastest-first it is rank - 1 - axis."""
    x = random_tensor(rng, kind[0], shape, kind[1])
    if data is not None:
        x = Tensor(kind[0], data(rng, shape), kind[1])
    numbers = x.array.astype(np.float32 if is_float(x.dtype) else np.int64)
    order = np.argsort(-numbers, axis=axis, kind="stable")  # NaN would be last
    indices = np.take(order, range(k), axis=axis)
    found = oracle.run_onnx("TopK", [numbers, np.array([k], np.int64)], axis=axis,
                            outputs=2)
    oracle.require_equal(found, np.take_along_axis(numbers, indices, axis), "ORT TopK")
    codes = np.take_along_axis(x.array, indices, axis)
    values = Tensor(kind[0], codes, kind[1])
    if out is not None:
        values = store(values.real(), *out)
    ours = len(shape) - 1 - axis
    return Case("tim.Topk", {"k": k, "axis": ours - len(shape) if negative else ours}, [x],
                [values, Tensor("int32", indices)])


def nan_first(rng):
    """NaN is greater than infinity; -0 and 0 are equal."""
    x = np.array([[1, np.nan, np.inf, -0.0, 0.0, np.nan, -np.inf, -0.0]], np.float32)
    indices = np.array([[1, 5, 2, 0, 3, 4, 7, 6]])
    values = np.take_along_axis(x, indices, 1)
    return Case("tim.Topk", {"k": 8}, [Tensor("float32", x)],
                [Tensor("float32", values), Tensor("int32", indices)])


# name, shape (row-major), axis (row-major), k
SHAPES = [
    ("r1_1", (1,), 0, 1), ("r1_33", (33,), 0, 5), ("r1_33_all", (33,), 0, 33),
    ("r1_3000", (3000,), 0, 8), ("r1_3000_many", (3000,), 0, 700), ("r2_4x3", (4, 3), 1, 2),
    ("r3_2x2x3", (2, 2, 3), 2, 1), ("r2_axis0", (5, 137), 1, 7), ("r2_axis1", (37, 21), 0, 4),
    ("r2_few_columns", (35, 3), 0, 6), ("r3_axis1", (3, 25, 17), 1, 3),
    ("r4_axis2", (2, 6, 5, 7), 1, 6), ("r3_extent_1", (3, 1, 4), 1, 1),
]
KINDS = [
    ("f16", ("float16", NONE)), ("i32", ("int32", NONE)), ("u8", ("uint8", per_tensor(0.05, 121))),
    ("i8", ("int8", per_tensor(0.04, -7))), ("i16", ("int16", per_tensor(0.0003, 300))),
    ("i8d", ("int8", fixed_point(5))), ("i16d", ("int16", fixed_point(12))),
]
F32 = ("float32", NONE)


def few_values(rng, shape):
    """Many equal elements."""
    return rng.integers(-3, 3, shape)


def ascending(rng, shape):
    """Every element beats all before it."""
    return np.sort(rng.standard_normal(shape).astype(np.float32), axis=-1)


def main():
    suite = Suite(__file__, onnxruntime)
    for i, (name, shape, axis, k) in enumerate(SHAPES):
        suite.add(f"f32_{name}", lambda rng: case_of(
            rng, shape, axis, k, F32, negative=i % 2 == 0))
        suite.add(f"f32_equal_{name}", lambda rng: case_of(
            rng, shape, axis, k, F32, data=few_values))
        for kind_name, kind in KINDS:
            if name in ("r1_33", "r2_axis0", "r2_axis1", "r2_few_columns", "r3_axis1"):
                suite.add(f"{kind_name}_{name}", lambda rng: case_of(rng, shape, axis, k, kind))
    suite.add("f32_ascending", lambda rng: case_of(
        rng, (2, 500), 1, 9, F32, data=ascending))
    suite.add("f32_nan", nan_first)
    suite.add("u8_to_f32", lambda rng: case_of(rng, (5, 37), 1, 7, KINDS[2][1], F32))
    suite.add("u8_requantized", lambda rng: case_of(
        rng, (5, 37), 0, 3, KINDS[2][1], ("uint8", per_tensor(0.0371, 90))))
    suite.write()


if __name__ == "__main__":
    main()
