"""Goldens of Add, Sub, Multiply, Div, Minimum and Maximum, and those of Pow and
FloorDiv (power_and_floor.py). Oracles: ONNX
Runtime's Add, Sub, Mul, Div, Min and Max for float32 and int32, NumPy in float64
and exact integers for the rest. float32 results are one rounding of float32
operands (two with a scale), so they are compared exactly."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
import power_and_floor
from golden_format import (NONE, TYPES, Case, Suite, Tensor, fit, fixed_point, is_float,
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


def divide_integers(a, b):
    """Truncated; x / 0 is the limit of 64 bits on x's side, 0 / 0 is 0."""
    if b == 0:
        return 0 if a == 0 else 2**63 - 1 if a > 0 else -(2**63)
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def divide(a, b):
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return a / b


# operator -> ONNX operator, on reals, on Python integers
OPS = {
    "Add": ("Add", np.add, lambda a, b: a + b),
    "Sub": ("Sub", np.subtract, lambda a, b: a - b),
    "Multiply": ("Mul", np.multiply, lambda a, b: a * b),
    "Div": ("Div", divide, divide_integers),
    "Minimum": ("Min", np.minimum, min),
    "Maximum": ("Max", np.maximum, max),
}


def attributes_of(policy=None, scale=1.0):
    attributes = {}
    if policy:
        attributes = {"overflow_policy": int(not policy.get("wrap")),
                      "rounding_policy": int(not policy.get("to_zero"))}
    if scale != 1:
        attributes["scale"] = scale
    return attributes


def without_zeros(x):
    codes = x.array
    one = 1 if is_float(x.dtype) else x.quant.zero() + 1
    x.array = np.where(x.real() == 0, one, codes).astype(codes.dtype)


def real_case(rng, op, a_shape, b_shape, a_kind, b_kind, out_kind, policy=None,
              constant=False, scale=1.0):
    onnx_op, apply, _ = OPS[op]
    a, b = random_tensor(rng, a_kind[0], a_shape, a_kind[1]), random_tensor(
        rng, b_kind[0], b_shape, b_kind[1])
    if op == "Div":
        without_zeros(b)
    if constant:
        b.role = "const"
    real = apply(a.real(), b.real()) * scale
    if out_kind[0] == "float32":  # the dequantized values are float32 themselves
        values = apply(a.real().astype(np.float32), b.real().astype(np.float32))
        if a.dtype == b.dtype == "float32":
            oracle.require_equal(oracle.run_onnx(onnx_op, [a.array, b.array]), values, op)
        out = Tensor("float32", values * np.float32(scale))
    else:
        sums = op in ("Add", "Sub")
        size = np.abs(a.real()) + np.abs(b.real()) if sums else np.abs(real)
        error = 0 if sums and a.dtype == b.dtype == "float16" else 2e-7
        fixed = not sums and a_kind[0] == "int8" and a_kind[1].kind == "fixed"
        out = store(real, *out_kind, magnitude=size, error=error, exact=fixed,
                    **(policy or {}))
    return Case("tim." + op, attributes_of(policy, scale), [a, b], out)


def off_ties(kind):
    """Another scale than the rational one at which products are often ties."""
    dtype, quant = kind
    if quant.kind != "tensor":
        return kind
    return dtype, per_tensor(quant.scale() * 1.0137, quant.zero())


def full_range(rng, dtype, shape):
    low, high = TYPES[dtype][1:]
    return Tensor(dtype, rng.integers(low, high, shape, dtype=np.int64, endpoint=True))


def plain_case(rng, op, a_shape, b_shape, a_type="int32", b_type="int32", out_type="int32",
               wrap=False, full=False):
    onnx_op, _, apply = OPS[op]
    make = full_range if full else random_tensor
    a, b = make(rng, a_type, a_shape), make(rng, b_type, b_shape)
    if op == "Div":
        without_zeros(b)
    exact = np.vectorize(lambda x, y: apply(int(x), int(y)), otypes=[object])(
        a.array, b.array)
    low, high = TYPES[out_type][1:]
    if full and op not in ("Div", "Minimum", "Maximum"):
        assert any(v < low for v in exact.flat) and any(v > high for v in exact.flat)
    elif a_type == b_type == "int32" and not full:
        oracle.require_equal(oracle.run_onnx(onnx_op, [a.array, b.array]), exact, "ORT " + op)
    out = Tensor(out_type, fit(exact, out_type, wrap))
    return Case("tim." + op, {"overflow_policy": 0} if wrap else {}, [a, b], out)


def integer_limits(rng, op, dtype, wrap=False):
    """Every pair of the limits and small numbers, zero and -1 among them."""
    low, high = TYPES[dtype][1:]
    values = np.array([low, low + 1, -3, -1, 0, 1, 2, 7, high - 1, high], object)
    a, b = np.repeat(values, len(values)), np.tile(values, len(values))
    apply = OPS[op][2]
    exact = np.array([apply(x, y) for x, y in zip(a, b)], object)
    return Case("tim." + op, {"overflow_policy": 0} if wrap else {},
                [Tensor(dtype, a), Tensor(dtype, b)], Tensor(dtype, fit(exact, dtype, wrap)))


def zero_division(rng, kind):
    """Codes divided by zero: infinities saturate, 0 / 0 gives the code 0."""
    a = Tensor("uint8", np.repeat([100, 121, 200], 3), U8[1])
    b = Tensor("uint8", np.tile([100, 121, 200], 3), U8[1])
    dtype, quant = kind
    real = divide(a.real(), b.real())
    nan = np.isnan(real)
    out = store(np.where(nan, 0, real), dtype, quant)
    out.array[nan] = 0
    return Case("tim.Div", {}, [a, b], out)


SPECIAL = [np.inf, -np.inf, 0.0, 1.0, -2.5, 3e38, -3e38, 1e-38, -2e-44]


def special_floats(rng, op):
    """Every pair but those whose result is NaN."""
    a = np.repeat(np.array(SPECIAL, np.float32), len(SPECIAL))
    b = np.tile(np.array(SPECIAL, np.float32), len(SPECIAL))
    with np.errstate(all="ignore"):
        out = OPS[op][1](a, b)
    keep = ~np.isnan(out)
    a, b, out = a[keep], b[keep], out[keep]
    oracle.require_equal(oracle.run_onnx(OPS[op][0], [a, b]), out, "ORT " + op)
    return Case("tim." + op, {}, [Tensor("float32", a), Tensor("float32", b)],
                Tensor("float32", out))


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


def broadcasts(suite, op, prefix):
    free = off_ties if op in ("Multiply", "Div") else lambda kind: kind
    for name, a, b in SHAPES:
        suite.add(f"{prefix}f32_{name}", lambda rng: real_case(rng, op, a, b, F32, F32, F32))
        suite.add(f"{prefix}f16_{name}", lambda rng: real_case(rng, op, a, b, F16, F16, F16))
        suite.add(f"{prefix}u8_{name}", lambda rng: real_case(
            rng, op, a, b, *KINDS[0][1:3], free(KINDS[0][3])))
        suite.add(f"{prefix}i32_{name}", lambda rng: plain_case(rng, op, a, b))
        if name in (FEW if op == "Add" else FEW[:1]):
            for kind, a_kind, b_kind, out in KINDS[1:]:
                if name != "r5" or kind in ("i8", "i16d", "u4"):
                    suite.add(f"{prefix}{kind}_{name}", lambda rng: real_case(
                        rng, op, a, b, a_kind, b_kind, free(out)))


def policies(suite, op, prefix):
    same = (4, 33), (4, 33)
    suite.add(f"{prefix}f32_constant", lambda rng: real_case(
        rng, op, (2, 5, 3, 3), (5, 1, 1), F32, F32, F32, constant=True))
    suite.add(f"{prefix}u8_constant", lambda rng: real_case(
        rng, op, (2, 5, 3, 3), (5, 1, 1), *KINDS[0][1:], constant=True))
    suite.add(f"{prefix}u8_wrap", lambda rng: real_case(
        rng, op, *same, *KINDS[9][1:], {"wrap": True}))
    suite.add(f"{prefix}u8_to_zero", lambda rng: real_case(
        rng, op, *same, *KINDS[0][1:], {"to_zero": True}))
    suite.add(f"{prefix}i32_saturates", lambda rng: plain_case(rng, op, *same, full=True))
    suite.add(f"{prefix}i32_wraps", lambda rng: plain_case(
        rng, op, *same, wrap=True, full=True))
    suite.add(f"{prefix}i16_plain_to_i32", lambda rng: plain_case(
        rng, op, (7, 5), (7, 5), "int16", "int16"))
    suite.add(f"{prefix}i16_i32_plain", lambda rng: plain_case(
        rng, op, (7, 5), (7, 5), "int16", "int32"))


def add_only(suite):
    suite.add("f32_infinities", infinities)
    suite.add("f32_infinities_to_u8", infinity_to_codes)
    suite.add("f16_range", half_range)
    suite.add("u8_ties_to_even", lambda rng: ties(rng, "uint8", 121))
    suite.add("i8_ties_to_even", lambda rng: ties(rng, "int8", -8))


def limits(suite, op, prefix):
    for dtype in ("int64", "int32", "int8"):
        suite.add(f"{prefix}{dtype}_limits", lambda rng: integer_limits(rng, op, dtype))
        suite.add(f"{prefix}{dtype}_limits_wrap", lambda rng: integer_limits(
            rng, op, dtype, wrap=True))
    suite.add(f"{prefix}f32_special", lambda rng: special_floats(rng, op))


def scaled(suite, op, prefix):
    shapes = (2, 3, 4, 5), (3, 1, 5)
    for kind, a, b, out in (("f32", F32, F32, F32), ("f16", F16, F16, F16), KINDS[0],
                            ("u8_f32_to_f32", U8, F32, F32),
                            ("i32_f32", ("int32", NONE), F32, F32)):
        suite.add(f"{prefix}{kind}_scaled", lambda rng: real_case(
            rng, op, *shapes, a, b, out, scale=0.5))
    suite.add(f"{prefix}i32_scaled", lambda rng: real_case(
        rng, op, *shapes, *[("int32", NONE)] * 3, scale=0.0301))


def main():
    suite = Suite(__file__, onnxruntime)
    for op in OPS:
        prefix = "" if op == "Add" else op.lower() + "_"
        broadcasts(suite, op, prefix)
        policies(suite, op, prefix)
        if op == "Add":
            add_only(suite)
        else:
            limits(suite, op, prefix)
        if op in ("Multiply", "Div"):
            scaled(suite, op, prefix)
    suite.add("div_u8_by_zero", lambda rng: zero_division(rng, ("uint8", per_tensor(0.31, 7))))
    suite.add("div_u8_by_zero_to_i8", lambda rng: zero_division(
        rng, ("int8", per_tensor(0.31, 0))))
    power_and_floor.add_all(suite)
    suite.write()


if __name__ == "__main__":
    main()
