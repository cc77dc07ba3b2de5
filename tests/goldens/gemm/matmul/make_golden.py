"""Goldens of Matmul. Oracles: NumPy matmul in float64 and int64, ONNX Runtime's
MatMul, MatMulInteger and QLinearMatMul."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, TYPES, Case, Suite, Tensor, close, fit,
                           fixed_point, per_tensor, random_tensor,
                           small_integers, store)


def swap(array, transposed):
    return np.swapaxes(array, -1, -2) if transposed else array


def stored_shape(shape, transposed):
    return shape[:-2] + (shape[-1], shape[-2]) if transposed else shape


def product(a, b, flags):
    return swap(a, flags.get("transpose_a")) @ swap(b, flags.get("transpose_b"))


# name, A [.., M, K], B [.., K, N], attributes
SHAPES = [
    ("1x1", (1, 1), (1, 1), {}),
    ("2x6_6x2", (2, 6), (6, 2), {}),
    ("outer", (3, 1), (1, 3), {}),
    ("31x33x32", (31, 33), (33, 32), {}),
    ("row", (1, 37), (37, 33), {}),
    ("column", (33, 37), (37, 1), {}),
    ("transpose_a", (5, 7), (7, 3), {"transpose_a": True}),
    ("transpose_b", (5, 7), (7, 3), {"transpose_b": True}),
    ("transpose_both", (5, 7), (7, 3), {"transpose_a": True, "transpose_b": True}),
    ("rank3", (2, 3, 4), (2, 4, 5), {"transpose_b": True}),
    ("rank4", (2, 3, 4, 5), (2, 3, 5, 6), {"transpose_a": True}),
    ("rank5", (2, 1, 2, 3, 4), (2, 3, 2, 4, 2), {}),
    ("batch_of_one_a", (1, 3, 4), (5, 4, 2), {}),
    ("batch_of_one_b", (3, 2, 3, 4), (3, 1, 4, 5), {}),
    ("batch_missing_a", (3, 4), (2, 3, 4, 5), {"transpose_b": True}),
    ("batch_missing_b", (2, 3, 3, 4), (4, 5), {"transpose_a": True}),
    ("batch_both_ways", (3, 1, 2, 4), (2, 4, 3), {}),
    ("vector_a", (7,), (7, 5), {}),
    ("vector_b", (5, 7), (7,), {}),
    ("vector_a_batched", (4,), (2, 3, 4, 5), {}),
    ("vector_b_batched", (2, 3, 4), (4,), {}),
    ("adjoint_alone", (3, 3), (3, 3), {"adjoint_a": True, "adjoint_b": True}),
]
FEW = ("2x6_6x2", "31x33x32", "transpose_a", "transpose_both", "batch_both_ways")


def operands(rng, case, a_type, a_quant, b_type, b_quant, constant=False):
    _, a_shape, b_shape, flags = case
    a = random_tensor(rng, a_type, stored_shape(a_shape, flags.get("transpose_a")), a_quant)
    b = random_tensor(rng, b_type, stored_shape(b_shape, flags.get("transpose_b")), b_quant)
    if constant:
        b.role = "const"
    return a, b


def float_case(rng, case, a, b, exact=False):
    if exact:
        a, b = (small_integers(rng, t.array.shape) for t in (a, b))
    flags = case[3]
    real = product(a.real(), b.real(), flags)
    size = product(np.abs(a.real()), np.abs(b.real()), flags).max()
    if a.dtype == b.dtype == "float32":
        found = oracle.run_onnx("MatMul", [swap(a.array, flags.get("transpose_a")),
                                           swap(b.array, flags.get("transpose_b"))])
        oracle.require_close(found, real, "ORT MatMul", 1e-6 * size)
    return real, size, a, b


def add_floats(suite):
    for i, case in enumerate(SHAPES):
        for exact in (False, True) if case[0] in FEW else (False,):
            def make(rng):
                a, b = operands(rng, case, "float32", NONE, "float32", NONE, i % 2 == 0)
                real, size, a, b = float_case(rng, case, a, b, exact)
                tolerance = EXACT if exact else close(1e-6 * size)
                return Case("tim.Matmul", case[3], [a, b], store(real, "float32"), tolerance)
            suite.add(f"f32_{case[0]}" + ("_integers" if exact else ""), make)
    for case in SHAPES:
        if case[0] in FEW or "vector" in case[0]:
            def make(rng):
                a, b = operands(rng, case, "float16", NONE, "float16", NONE)
                real = product(a.real(), b.real(), case[3])
                # Sums of multiples of 1/64 below 2^18 are exact in float32.
                return Case("tim.Matmul", case[3], [a, b], store(real, "float16", error=0))
            suite.add(f"f16_{case[0]}", make)


U8, I8 = per_tensor(0.05, 121), per_tensor(0.04, -7)
I16 = per_tensor(0.0005, 300)
# name, A, B, output
QUANTIZED = [
    ("u8", ("uint8", U8), ("uint8", per_tensor(0.011, 133)), ("uint8", per_tensor(0.31, 119))),
    ("i8", ("int8", I8), ("int8", per_tensor(0.013, 3)), ("int8", per_tensor(0.27, 5))),
    ("i8d", ("int8", fixed_point(4)), ("int8", fixed_point(6)), ("int8", fixed_point(2))),
    ("i16", ("int16", I16), ("int16", per_tensor(0.0001, -40)),
     ("int16", per_tensor(0.013, -117))),
    ("i16d", ("int16", fixed_point(8)), ("int16", fixed_point(13)),
     ("int16", fixed_point(3))),
    ("u8_saturates", ("uint8", U8), ("uint8", per_tensor(0.011, 133)),
     ("uint8", per_tensor(0.007, 30))),
    ("u8_i8", ("uint8", U8), ("int8", per_tensor(0.013, 3)), ("uint8", per_tensor(0.31, 119))),
    ("u8_to_f16", ("uint8", U8), ("uint8", per_tensor(0.011, 133)), ("float16", NONE)),
    ("i8_to_f16", ("int8", I8), ("int8", per_tensor(0.013, 3)), ("float16", NONE)),
    ("i16_to_f16", ("int16", I16), ("int16", per_tensor(0.0001, -40)), ("float16", NONE)),
]
MIXED = [
    ("f16_u8_to_f16", ("float16", NONE), ("uint8", U8), ("float16", NONE)),
    ("f16_u8_to_u8", ("float16", NONE), ("uint8", U8), ("uint8", per_tensor(0.31, 119))),
    ("u8_f16_to_u8", ("uint8", U8), ("float16", NONE), ("uint8", per_tensor(0.31, 119))),
    ("f16_i8_to_i8", ("float16", NONE), ("int8", I8), ("int8", per_tensor(0.27, 5))),
    ("f16_f16_to_u8", ("float16", NONE), ("float16", NONE), ("uint8", per_tensor(0.31, 119))),
    ("f32_i8d", ("float32", NONE), ("int8", fixed_point(4)), ("float32", NONE)),
    ("f32_i16d", ("float32", NONE), ("int16", fixed_point(8)), ("float32", NONE)),
    ("f32_i32", ("float32", NONE), ("int32", NONE), ("float32", NONE)),
]


def quantized(rng, case, a, b, out, policy=None):
    a, b = operands(rng, case, *a, *b, constant=case[0] in ("2x6_6x2", "transpose_a"))
    acc = product(a.centered(), b.centered(), case[3])
    if a.dtype in ("uint8", "int8"):
        check_with_onnx(a, b, case[3], acc)
    policy = policy or {}
    result = store(acc * (a.quant.scale() * b.quant.scale()), *out, **policy)
    if result.dtype == a.dtype == "uint8" and b.dtype == "uint8" and not policy:
        check_codes_with_onnx(a, b, case[3], result)
    attributes = dict(case[3])
    if policy:
        attributes |= {"overflow_policy": int(not policy.get("wrap")),
                       "rounding_policy": int(not policy.get("to_zero"))}
    return Case("tim.Matmul", attributes, [a, b], result)


def check_with_onnx(a, b, flags, acc):
    found = oracle.run_onnx(
        "MatMulInteger",
        [swap(a.array, flags.get("transpose_a")), swap(b.array, flags.get("transpose_b")),
         a.array.dtype.type(a.quant.zero()), b.array.dtype.type(b.quant.zero())], np.int32)
    oracle.require_equal(found, acc, "ORT MatMulInteger")


def check_codes_with_onnx(a, b, flags, out):
    pair = lambda t: [np.float32(t.quant.scale()), np.uint8(t.quant.zero())]
    found = oracle.run_onnx(
        "QLinearMatMul",
        [swap(a.array, flags.get("transpose_a")), *pair(a),
         swap(b.array, flags.get("transpose_b")), *pair(b), *pair(out)])
    oracle.require_equal(found, out.array, "ORT QLinearMatMul")


def mixed(rng, case, a, b, out):
    a, b = operands(rng, case, *a, *b)
    real, size, a, b = float_case(rng, case, a, b)
    result = store(real, *out, magnitude=size, error=1e-6)
    tolerance = close(1e-6 * size) if out[0] == "float32" else EXACT
    return Case("tim.Matmul", case[3], [a, b], result, tolerance)


def add_quantized(suite):
    shapes = [c for c in SHAPES if c[0] in FEW]
    for name, a, b, out in QUANTIZED:
        for case in shapes:
            if name in ("u8", "i8", "i8d") or case[0] != "31x33x32":
                suite.add(f"{name}_{case[0]}", lambda rng: quantized(rng, case, a, b, out))
    for name, a, b, out in MIXED:
        for case in shapes:
            if case[0] in ("2x6_6x2", "batch_both_ways"):
                suite.add(f"{name}_{case[0]}", lambda rng: mixed(rng, case, a, b, out))
    for case in SHAPES:
        if "vector" in case[0]:
            suite.add(f"u8_{case[0]}", lambda rng: quantized(rng, case, *QUANTIZED[0][1:]))
    narrow = ("uint8", per_tensor(0.007, 30))
    suite.add("u8_wrap", lambda rng: quantized(
        rng, SHAPES[1], *QUANTIZED[0][1:3], narrow, {"wrap": True}))
    suite.add("u8_to_zero", lambda rng: quantized(
        rng, SHAPES[1], *QUANTIZED[0][1:4], {"to_zero": True}))


def plain(rng, shape_case, wrap, big):
    """int32 without quantization: exact arithmetic, then saturate or wrap."""
    a, b = operands(rng, shape_case, "int32", NONE, "int32", NONE)
    if big:
        a.array = rng.integers(-2**31, 2**31, a.array.shape, dtype=np.int64).astype("int32")
    exact = product(a.array.astype(object), b.array.astype(object), shape_case[3])
    low, high = TYPES["int32"][1:]
    assert not big or any(v < low or v > high for v in exact.flat)
    attributes = dict(shape_case[3]) | ({"overflow_policy": 0} if wrap else {})
    return Case("tim.Matmul", attributes, [a, b], Tensor("int32", fit(exact, "int32", wrap)))


def add_plain(suite):
    for case in SHAPES:
        if case[0] in FEW or case[0] == "rank5":
            suite.add(f"i32_{case[0]}", lambda rng: plain(rng, case, False, False))
    suite.add("i32_saturates", lambda rng: plain(rng, SHAPES[1], False, True))
    suite.add("i32_wraps", lambda rng: plain(rng, SHAPES[1], True, True))


def main():
    suite = Suite(__file__, onnxruntime)
    add_floats(suite)
    add_quantized(suite)
    add_plain(suite)
    suite.write()


if __name__ == "__main__":
    main()
