"""Goldens of the seven Reduce operators. Oracles: ONNX Runtime's ReduceMin,
ReduceMax, ReduceProd, ReduceMean and ReduceSum (of 0 and 1 for Any and All);
NumPy in float64 and int64."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, Case, Suite, Tensor, close, fit, fixed_point,
                           is_float, per_tensor, random_tensor, store)

NUMPY = {"ReduceMin": np.min, "ReduceMax": np.max, "ReduceProd": np.prod,
         "ReduceMean": np.mean, "ReduceSum": np.sum, "ReduceAny": np.any,
         "ReduceAll": np.all}
ONNX = {"ReduceAny": "ReduceMax", "ReduceAll": "ReduceMin"}


def attributes(axes, rank, keep, negative=False):
    """`axes` count row-major; fastest-first they are rank - 1 - axis."""
    ours = [rank - 1 - a for a in axes]
    return {"axis": [a - rank if negative else a for a in ours], "keep_dims": keep}


def reduce(op, array, axes, keep):
    """NumPy's result; where nothing is left, of shape [1]."""
    out = NUMPY[op](array, axis=tuple(sorted({a % array.ndim for a in axes})), keepdims=keep)
    return np.asarray(out).reshape(np.shape(out) or (1,))


def check_with_onnx(op, x, axes, keep, expected, absolute):
    found = oracle.run_onnx(ONNX.get(op, op), [x, np.array(sorted(set(axes)), np.int64)],
                            keepdims=int(keep))
    oracle.require_close(np.reshape(found, expected.shape), expected, "ORT " + op, absolute)


def logical_case(rng, op, shape, axes, keep, dtype="bool8", out=None):
    limit = 3 if op == "ReduceAny" else 30  # some results of either kind
    array = (rng.integers(0, limit, shape) == 0) == (op == "ReduceAny")
    codes = array * (rng.integers(-128, 0, shape) if dtype == "int8" else 1)
    y = reduce(op, array, axes, keep)
    check_with_onnx(op, array.astype(np.int32), axes, keep, y.astype(np.int32), 0)
    return Case("tim." + op, attributes(axes, len(shape), keep), [Tensor(dtype, codes)],
                Tensor(out or dtype, y.astype(int)))


def sums_of_magnitudes(op, x, axes, keep):
    """The largest intermediate of every result; sums of codes and of the halves
    of random_tensor are exact in float32."""
    if x.dtype == "float32" and op in ("ReduceSum", "ReduceMean"):
        return reduce(op, np.abs(x.real()), axes, keep)
    return np.abs(reduce(op, x.real(), axes, keep))


def case_of(rng, op, shape, axes, keep, x_kind=("float32", NONE), out=None, negative=False,
            data=None):
    x = random_tensor(rng, x_kind[0], shape, x_kind[1])
    if data is not None:
        x = Tensor(x_kind[0], data(rng, shape), x_kind[1])
    out = out or x_kind
    same = (out[0], out[1].text()) == (x_kind[0], x_kind[1].text())
    real = reduce(op, x.real(), axes, keep)
    sizes = sums_of_magnitudes(op, x, axes, keep)
    tolerance = EXACT
    if x_kind[0] == "float32":
        absolute = 1e-6 * max(1, sizes[np.isfinite(sizes)].max(initial=0))
        check_with_onnx(op, x.array, axes, keep, real.astype(np.float32), 4 * absolute)
    if same and op in ("ReduceMin", "ReduceMax"):  # one of the elements
        y = Tensor(out[0], reduce(op, x.array, axes, keep), out[1])
    elif x_kind == ("int32", NONE) and out == x_kind:
        exact = reduce(op, x.array.astype(object), axes, keep)
        if op == "ReduceMean":  # half to even
            exact = np.rint(real).astype(int)
        y = Tensor("int32", fit(exact, "int32"))
    else:
        rounded = x.array.size // real.size if op == "ReduceProd" else 0
        y = store(real, *out, magnitude=sizes, error=6e-8 * (rounded + 4))
        if out[0] == "float32":
            tolerance = close(1e-6 * max(sizes.max(), 1e-3))
    return Case("tim." + op, attributes(axes, x.rank, keep, negative), [x], y, tolerance)


# name, shape (row-major), axes (row-major)
SHAPES = [
    ("r1_1", (1,), (0,)), ("r1_33", (33,), (0,)), ("r1_5000", (5000,), (0,)),
    ("r2_fastest", (5, 37), (1,)), ("r2_slowest", (37, 21), (0,)),
    ("r2_short_rows", (19, 3), (1,)), ("r2_few_columns", (35, 3), (0,)),
    ("r2_all", (7, 9), (0, 1)), ("r3_middle", (3, 5, 17), (1,)),
    ("r3_outer_two", (3, 5, 4), (1, 0)), ("r3_ends", (3, 17, 5), (0, 2)),
    ("r3_twice", (3, 5, 7), (1, 1)), ("r4_image", (2, 3, 5, 7), (2, 3)),
    ("r4_alternate", (3, 4, 5, 6), (1, 3)), ("r4_others", (3, 4, 5, 6), (2, 0)),
    ("r4_extent_1", (3, 1, 5, 2), (1,)), ("r5_three", (3, 2, 5, 2, 3), (0, 2, 4)),
    ("r2_chunks", (2, 2049), (1,)), ("r2_chunks_of_columns", (1030, 17), (0,)),
]
FEW = ("r1_33", "r2_fastest", "r3_middle", "r4_image", "r3_ends")
NUMBERS = ("ReduceMin", "ReduceMax", "ReduceProd", "ReduceMean", "ReduceSum")

U8, I8 = ("uint8", per_tensor(0.02, 121)), ("int8", per_tensor(0.017, -7))
I16 = ("int16", per_tensor(0.0001, 300))
I8D, I16D = ("int8", fixed_point(6)), ("int16", fixed_point(14))
F16, F32, I32 = ("float16", NONE), ("float32", NONE), ("int32", NONE)
# name, input, output (None: the same)
SAME = [("f16", F16, None), ("i32", I32, None), ("u8", U8, None), ("i8", I8, None),
        ("i16", I16, None), ("i8d", I8D, None), ("i16d", I16D, None)]
OTHER = [("f16", F16, None), ("i32", I32, None),
         ("u8", U8, ("uint8", per_tensor(0.0531, 90))),
         ("i8", I8, ("int8", per_tensor(0.0437, 4))),
         ("i16", I16, ("int16", per_tensor(0.000271, -20))),
         ("i8d", I8D, None), ("i16d", I16D, None),
         ("u8_to_f32", U8, F32), ("f32_to_u8", F32, ("uint8", per_tensor(0.0531, 90)))]


def ties(rng, op, keep):
    """u8 sums of pairs at half the scale, zero point odd: every second is a tie."""
    x = random_tensor(rng, "uint8", (8, 6, 2), per_tensor(0.25, 127))
    units = x.centered().sum(axis=2, keepdims=keep) * 0.5 + 127
    assert op == "ReduceSum" and np.mean(units % 1 == 0.5) > 0.3
    codes = np.clip(np.rint(units), 0, 255).astype(int)
    return Case("tim.ReduceSum", attributes((2,), 3, keep), [x],
                Tensor("uint8", codes, per_tensor(0.5, 127)))


def with_nan(rng, shape):
    x = rng.standard_normal(shape).astype(np.float32)
    x[1, 3] = np.nan
    x[2, 35] = np.nan
    x[3, 0], x[3, 1] = np.inf, -np.inf
    return x


def nan_case(rng, op):
    x = with_nan(rng, (5, 37))
    y = NUMPY[op](x, axis=1)  # NaN stays
    return Case("tim." + op, attributes((1,), 2, False), [Tensor("float32", x)],
                Tensor("float32", y))


def saturating(rng, op):
    x = rng.integers(2**30, 2**31, (3, 9)) * np.array([[1], [-1], [1]])
    y = fit(NUMPY[op](x.astype(object), axis=1), "int32")
    return Case("tim." + op, attributes((1,), 2, False), [Tensor("int32", x)], Tensor("int32", y))


def add_numbers(suite):
    for i, (name, shape, axes) in enumerate(SHAPES):
        for j, op in enumerate(NUMBERS):
            small = op != "ReduceProd" or np.prod(shape) < 200
            keep = (i + j) % 2 == 0
            if small:
                suite.add(f"{op}_f32_{name}", lambda rng: case_of(
                    rng, op, shape, axes, keep, negative=(i + j) % 3 == 0))
            for kind, x, out in SAME if op in ("ReduceMin", "ReduceMax") else OTHER:
                if name in FEW and small:
                    suite.add(f"{op}_{kind}_{name}", lambda rng: case_of(
                        rng, op, shape, axes, not keep, x, out))


def main():
    suite = Suite(__file__, onnxruntime)
    add_numbers(suite)
    for name, shape, axes in SHAPES:
        for op in ("ReduceAny", "ReduceAll"):
            for keep in (False, True):
                suite.add(f"{op}_b8_{name}_{'keep' if keep else 'drop'}",
                          lambda rng: logical_case(rng, op, shape, axes, keep))
            if name in FEW:
                suite.add(f"{op}_i8_{name}", lambda rng: logical_case(
                    rng, op, shape, axes, False, "int8"))
                suite.add(f"{op}_i8_to_b8_{name}", lambda rng: logical_case(
                    rng, op, shape, axes, True, "int8", "bool8"))
    for op in ("ReduceMin", "ReduceMax"):
        suite.add(f"{op}_f32_nan", lambda rng: nan_case(rng, op))
        requantized = ("uint8", per_tensor(0.037, 90))
        suite.add(f"{op}_u8_requantized", lambda rng: case_of(
            rng, op, (5, 37), (1,), False, U8, requantized))
        suite.add(f"{op}_u8_to_f32", lambda rng: case_of(rng, op, (5, 37), (0,), True, U8, F32))
        suite.add(f"{op}_f32_to_u8", lambda rng: case_of(
            rng, op, (5, 37), (0,), True, F32, requantized))
    for keep in (False, True):
        suite.add(f"ReduceSum_u8_ties_{keep}", lambda rng: ties(rng, "ReduceSum", keep))
    for op in ("ReduceSum", "ReduceProd"):
        suite.add(f"{op}_i32_saturates", lambda rng: saturating(rng, op))
    suite.write()


if __name__ == "__main__":
    main()
