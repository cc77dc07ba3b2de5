"""Goldens of Add. Oracles: ONNX Runtime's Add for float32 and int32, NumPy in
float64 and exact integers for the rest."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import oracle
from golden_format import (NONE, TYPES, Case, Suite, Tensor, fit, fixed_point,
                           per_tensor, random_tensor, store)

# name, a, b (row-major)
SHAPES = [
    ("r1_1", (1,), (1,)),
    ("r1_33", (33,), (33,)),
    ("r4_same", (2, 3, 4, 5), (2, 3, 4, 5)),
    ("r2_scalar_b", (5, 7), (1,)),
    ("r3_scalar_a", (1,), (3, 5, 7)),
    ("r4_row", (2, 3, 4, 5), (5,)),
    ("r4_channel", (2, 3, 4, 5), (3, 1, 1)),
    ("r4_channel_32", (1, 32, 3, 5), (1, 32, 1, 1)),
    ("r3_both_ways", (3, 1, 5), (1, 4, 5)),
    ("r2_outer", (31, 1), (1, 33)),
    ("r5", (2, 1, 3, 1, 5), (2, 3, 2, 1)),
    ("r5_same", (2, 2, 3, 2, 3), (2, 2, 3, 2, 3)),
    ("r5_by_r1", (2, 2, 3, 2, 3), (1,)),
    ("r4_batch", (3, 2, 2, 3), (1, 2, 2, 3)),
]
FEW = ("r4_same", "r3_both_ways", "r4_channel", "r5")


def real_case(rng, a_shape, b_shape, a_kind, b_kind, out_kind, policy=None, constant=False):
    a, b = random_tensor(rng, a_kind[0], a_shape, a_kind[1]), random_tensor(
        rng, b_kind[0], b_shape, b_kind[1])
    if constant:
        b.role = "const"
    real = a.real() + b.real()
    if out_kind[0] == "float32":  # the dequantized values are float32 themselves
        values = a.real().astype(np.float32) + b.real().astype(np.float32)
        if a.dtype == b.dtype == "float32":
            oracle.require_equal(oracle.run_onnx("Add", [a.array, b.array]), values, "Add")
        out = Tensor("float32", values)
    else:
        size = np.abs(a.real()) + np.abs(b.real())
        error = 0 if a.dtype == b.dtype == "float16" else 2e-7
        out = store(real, *out_kind, magnitude=size, error=error, **(policy or {}))
    attributes = {}
    if policy:
        attributes = {"overflow_policy": int(not policy.get("wrap")),
                      "rounding_policy": int(not policy.get("to_zero"))}
    return Case("tim.Add", attributes, [a, b], out)


def plain_case(rng, a_shape, b_shape, a_type="int32", b_type="int32", out_type="int32",
               wrap=False, full=False):
    a, b = random_tensor(rng, a_type, a_shape), random_tensor(rng, b_type, b_shape)
    if full:
        low, high = TYPES[a_type][1:]
        a.array = rng.integers(low, high, a_shape, dtype=np.int64, endpoint=True).astype(
            a.array.dtype)
        low, high = TYPES[b_type][1:]
        b.array = rng.integers(low, high, b_shape, dtype=np.int64, endpoint=True).astype(
            b.array.dtype)
    exact = a.array.astype(object) + b.array.astype(object)
    low, high = TYPES[out_type][1:]
    if full:
        assert any(v < low for v in exact.flat) and any(v > high for v in exact.flat)
    elif a_type == b_type == "int32":
        oracle.require_equal(oracle.run_onnx("Add", [a.array, b.array]), exact, "ORT Add")
    out = Tensor(out_type, fit(exact, out_type, wrap))
    return Case("tim.Add", {"overflow_policy": 0} if wrap else {}, [a, b], out)


def infinities(rng):
    a = np.array([np.inf, -np.inf, 1, -np.inf, 3.4e38, -3.4e38, 0], np.float32)
    b = np.array([1, 5, np.inf, -np.inf, 3.4e38, -3.4e38, 0], np.float32)
    with np.errstate(over="ignore"):
        out = a + b
    oracle.require_equal(oracle.run_onnx("Add", [a, b]), out, "ORT Add")
    return Case("tim.Add", {}, [Tensor("float32", a), Tensor("float32", b)],
                Tensor("float32", out))


def infinity_to_codes(rng):
    a = np.array([np.inf, -np.inf, 1e30, -1e30, 1], np.float32)
    b = np.array([1, 5, 0, 0, 0.1], np.float32)
    out = store(a.astype(np.float64) + b, "uint8", per_tensor(0.31, 7))
    return Case("tim.Add", {}, [Tensor("float32", a), Tensor("float32", b)], out)


def half_range(rng):
    """Overflow to infinity, subnormals, and sums that a half cannot hold."""
    a = np.array([65504, 65504, -65504, 6e-8, 2048, 2050, 1024, 1.0], np.float16)
    b = np.array([15, 16, -16, 6e-8, 1, 1, 0.25, 2**-11], np.float16)
    with np.errstate(over="ignore"):
        out = (a.astype(np.float32) + b.astype(np.float32)).astype(np.float16)
    return Case("tim.Add", {}, [Tensor("float16", a), Tensor("float16", b)],
                Tensor("float16", out))


def ties(rng, dtype, zero):
    """Powers of two: sums are exact in float32; odd ones are ties."""
    low, high = TYPES[dtype][1:]
    codes = lambda: rng.integers(low, high + 1, (4, 33))
    a, b = Tensor(dtype, codes(), per_tensor(0.25, zero)), Tensor(
        dtype, codes(), per_tensor(0.25, zero + 3))
    units = (a.real() + b.real()) / 0.5 + (zero - 1)
    assert np.mean(units % 1 == 0.5) > 0.3
    out = Tensor(dtype, np.clip(np.rint(units), low, high).astype(int),
                 per_tensor(0.5, zero - 1))
    return Case("tim.Add", {}, [a, b], out)


U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
F32, F16 = ("float32", NONE), ("float16", NONE)
I16 = ("int16", per_tensor(0.0005, 300))
KINDS = [
    ("u8", U8, ("uint8", per_tensor(0.031, 133)), ("uint8", per_tensor(0.083, 119))),
    ("i8", I8, ("int8", per_tensor(0.033, 3)), ("int8", per_tensor(0.071, 5))),
    ("u8_equal", U8, U8, U8),
    ("i8d", ("int8", fixed_point(4)), ("int8", fixed_point(4)), ("int8", fixed_point(4))),
    ("i8d_mixed_fl", ("int8", fixed_point(4)), ("int8", fixed_point(3)),
     ("int8", fixed_point(5))),
    ("i16", I16, ("int16", per_tensor(0.0004, -40)), ("int16", per_tensor(0.0011, -117))),
    ("i16d", ("int16", fixed_point(8)), ("int16", fixed_point(7)), ("int16", fixed_point(8))),
    ("u4", ("uint4", per_tensor(0.5, 6)), ("uint4", per_tensor(0.3, 8)),
     ("uint4", per_tensor(0.9, 7))),
    ("i4", ("int4", per_tensor(0.5, 1)), ("int4", per_tensor(0.3, 0)),
     ("int4", per_tensor(0.9, -1))),
    ("u8_saturates", U8, ("uint8", per_tensor(0.031, 133)), ("uint8", per_tensor(0.013, 60))),
    ("u8_i8_to_u8", U8, I8, ("uint8", per_tensor(0.083, 119))),
    ("u8_u8_to_i8", U8, U8, ("int8", per_tensor(0.083, 5))),
    ("u8_u8_to_i16", U8, U8, ("int16", per_tensor(0.0083, 5))),
    ("f32_u8_to_u8", F32, U8, ("uint8", per_tensor(0.083, 119))),
    ("u8_f32_to_f32", U8, F32, F32),
    ("f32_f32_to_u8", F32, F32, ("uint8", per_tensor(0.037, 119))),
    ("u8_i8_to_f32", U8, I8, F32),
    ("f16_u8_to_u8", F16, U8, ("uint8", per_tensor(0.083, 119))),
    ("f16_i8_to_f16", F16, I8, F16),
    ("f16_f32_to_f32", F16, F32, F32),
    ("f32_f16_to_f16", F32, F16, F16),
    ("i16_f32_to_i16", I16, F32, ("int16", per_tensor(0.0011, -117))),
]


def main():
    suite = Suite(__file__, onnxruntime)
    for name, a, b in SHAPES:
        suite.add(f"f32_{name}", lambda rng: real_case(rng, a, b, F32, F32, F32))
        suite.add(f"f16_{name}", lambda rng: real_case(rng, a, b, F16, F16, F16))
        suite.add(f"u8_{name}", lambda rng: real_case(rng, a, b, *KINDS[0][1:]))
        suite.add(f"i32_{name}", lambda rng: plain_case(rng, a, b))
        if name in FEW:
            for kind, a_kind, b_kind, out in KINDS[1:]:
                if name != "r5" or kind in ("i8", "i16d", "u4"):
                    suite.add(f"{kind}_{name}", lambda rng: real_case(
                        rng, a, b, a_kind, b_kind, out))
    same = (4, 33), (4, 33)
    suite.add("f32_constant", lambda rng: real_case(
        rng, (2, 5, 3, 3), (5, 1, 1), F32, F32, F32, constant=True))
    suite.add("u8_constant", lambda rng: real_case(
        rng, (2, 5, 3, 3), (5, 1, 1), *KINDS[0][1:], constant=True))
    suite.add("u8_wrap", lambda rng: real_case(rng, *same, *KINDS[9][1:], {"wrap": True}))
    suite.add("u8_to_zero", lambda rng: real_case(rng, *same, *KINDS[0][1:], {"to_zero": True}))
    suite.add("i32_saturates", lambda rng: plain_case(rng, *same, full=True))
    suite.add("i32_wraps", lambda rng: plain_case(rng, *same, wrap=True, full=True))
    suite.add("i16_plain_to_i32", lambda rng: plain_case(
        rng, (7, 5), (7, 5), "int16", "int16"))
    suite.add("i16_i32_plain", lambda rng: plain_case(rng, (7, 5), (7, 5), "int16", "int32"))
    suite.add("f32_infinities", infinities)
    suite.add("f32_infinities_to_u8", infinity_to_codes)
    suite.add("f16_range", half_range)
    suite.add("u8_ties_to_even", lambda rng: ties(rng, "uint8", 121))
    suite.add("i8_ties_to_even", lambda rng: ties(rng, "int8", -8))
    suite.write()


if __name__ == "__main__":
    main()
