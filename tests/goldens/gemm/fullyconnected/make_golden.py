"""Goldens of FullyConnected. Oracles: NumPy in float64 and int64, ONNX Runtime's
Gemm, MatMulInteger and QLinearMatMul."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, Case, Suite, Tensor, close, fixed_point,
                           per_channel, per_tensor, random_tensor, small_integers, store)

# name, input (row-major), axis (fastest-first), outputs, weight rank, bias
SHAPES = [
    ("1x1", (1, 1), 0, 1, 2, True),
    ("2x3_to_3", (2, 3), 0, 3, 2, True),
    ("batch31_33_to_32", (31, 33), 0, 32, 2, False),
    ("one_row_37_to_33", (1, 37), 0, 33, 2, True),
    ("axis2_flattens_whc", (2, 3, 4, 5), 2, 7, 2, True),
    ("axis1_keeps_two", (2, 3, 4, 5), 1, 6, 2, False),
    ("axis0_keeps_three", (2, 3, 2, 5), 0, 4, 2, True),
    ("axis_all", (2, 3, 4), 2, 5, 2, True),
    ("rank1", (7,), 0, 3, 2, True),
    ("weight_rank4", (2, 3, 4, 5), 2, 7, 4, True),
    ("weight_rank3", (3, 2, 5), 1, 4, 3, False),
    ("rank5", (2, 2, 3, 2, 2), 2, 5, 2, True),
]
FEW = ("2x3_to_3", "batch31_33_to_32", "axis2_flattens_whc", "weight_rank4")


def matrices(x, w, axis):
    """Input as [M, K], weight as [O, K]."""
    kept = x.shape[: x.ndim - 1 - axis]
    return x.reshape(int(np.prod(kept)), -1), w.reshape(w.shape[0], -1), kept


def tensors(rng, case, x_type, x_quant, w_type, w_quant, role):
    _, shape, axis, outputs, rank, _ = case
    flat = shape[len(shape) - 1 - axis:]
    k = int(np.prod(flat))
    rest = {2: (k,), 3: (1, k), 4: flat}[rank]
    if w_quant == "pc":
        w_quant = per_channel(rank - 1, rng.uniform(0.002, 0.02, outputs))
    x = random_tensor(rng, x_type, shape, x_quant)
    return x, random_tensor(rng, w_type, (outputs, *rest), w_quant, role)


def result_shape(kept, outputs, role):
    """A weight that is no constant: [O, M]; else the dims after axis stay."""
    return (int(np.prod(kept)), outputs) if role == "var" else (*kept, outputs)


def attributes(case, named):
    return {"axis": case[2]} | ({"weights": case[3]} if named else {})


def float_case(rng, case, dtype, role="const", exact=False, bias_dtype="float32", named=True):
    x, w = tensors(rng, case, dtype, NONE, dtype, NONE, role)
    if exact:
        x, w = small_integers(rng, x.array.shape), small_integers(rng, w.array.shape)
        w.role = role
    x2, w2, kept = matrices(x.real(), w.real(), case[2])
    real, size = x2 @ w2.T, np.abs(x2) @ np.abs(w2.T)
    inputs = [x, w]
    if case[5]:
        b = random_tensor(rng, bias_dtype, (case[3],), role=role)
        if exact or dtype == "float16":
            b.array = np.rint(b.array * 2).astype(b.array.dtype)
        inputs.append(b)
        real, size = real + b.real(), size + np.abs(b.real())
    if dtype == "float32":
        found = oracle.run_onnx("Gemm", [x2.astype("float32"), w2.astype("float32")] +
                                [t.array.astype("float32") for t in inputs[2:]], transB=1)
        oracle.require_close(found, real, "ORT Gemm", 1e-6 * size.max())
    out = store(real.reshape(result_shape(kept, case[3], role)), dtype, error=0)
    tolerance = EXACT if exact or dtype == "float16" else close(1e-6 * size.max())
    return Case("tim.FullyConnected", attributes(case, named), inputs, out, tolerance)


def quantized(rng, case, x_kind, w_kind, out_kind, bias, role="const", policy=None):
    x, w = tensors(rng, case, *x_kind, *w_kind, role)
    x2, _, kept = matrices(x.centered(), w.array, case[2])
    w2 = matrices(x.array, w.centered(), case[2])[1]
    acc = x2 @ w2.T
    channel = w.quant.kind == "channel"
    s_w = np.array(w.quant.scales) if channel else w.quant.scale()
    inputs = [x, w]
    if case[5] and bias:
        b = make_bias(rng, bias, acc, x, w, role)
        inputs.append(b)
        acc = acc + b.array.astype(np.int64)
    check_with_onnx(x, w, case, acc, inputs[2:])
    shape = result_shape(kept, case[3], role)
    real = (acc * (x.quant.scale() * s_w)).reshape(shape)
    out = store(real, *out_kind, **(policy or {}))
    extra = {}
    if policy:
        extra = {"overflow_policy": int(not policy.get("wrap")),
                 "rounding_policy": int(not policy.get("to_zero"))}
    tolerance = close(0, 4e-7) if out.dtype == "float32" else EXACT
    return Case("tim.FullyConnected", attributes(case, True) | extra, inputs, out, tolerance)


def make_bias(rng, dtype, acc, x, w, role):
    spread = max(int(np.abs(acc).max()) // 4, 1)
    codes = rng.integers(-spread, spread + 1, acc.shape[1])
    if x.quant.kind == "fixed" and w.quant.kind == "fixed":
        quant = fixed_point(x.quant.fl + w.quant.fl)
    elif w.quant.kind == "channel":
        quant = per_channel(0, np.float32(x.quant.scale()) * np.float32(w.quant.scales))
    else:
        quant = per_tensor(np.float32(x.quant.scale()) * np.float32(w.quant.scale()))
    return Tensor(dtype, codes, quant, role)


def check_with_onnx(x, w, case, acc, bias):
    if x.dtype not in ("uint8", "int8") or w.dtype not in ("uint8", "int8"):
        return
    x2, w2, _ = matrices(x.array, w.array, case[2])
    zero_w = 0 if w.quant.kind == "channel" else w.quant.zero()
    sums = oracle.run_onnx(
        "MatMulInteger", [x2, np.ascontiguousarray(w2.T), x2.dtype.type(x.quant.zero()),
                          w2.dtype.type(zero_w)], np.int32)
    shift = sum(b.array.astype(np.int64) for b in bias)
    oracle.require_equal(sums + shift, acc, "ORT MatMulInteger")


U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
W_U8, W_I8 = ("uint8", per_tensor(0.011, 133)), ("int8", per_tensor(0.013, 3))
OUT_U8, OUT_I8 = ("uint8", per_tensor(0.31, 119)), ("int8", per_tensor(0.27, 5))
I16, OUT_I16 = ("int16", per_tensor(0.0005, 300)), ("int16", per_tensor(0.013, -117))
W_I16 = ("int16", per_tensor(0.0001, -40))
I16D = ("int16", fixed_point(8))
QUANTIZED = [
    ("u8_u8", U8, W_U8, OUT_U8, "int32"),
    ("i8_i8", I8, W_I8, OUT_I8, "int32"),
    ("u8_i8pc", U8, ("int8", "pc"), OUT_U8, "int32"),
    ("i8_i8pc", I8, ("int8", "pc"), OUT_I8, "int32"),
    ("u8_u8pc", U8, ("uint8", "pc"), ("uint8", per_tensor(0.83, 128)), "int32"),
    ("i8d_i8d", ("int8", fixed_point(4)), ("int8", fixed_point(6)),
     ("int8", fixed_point(1)), "int32"),
    ("i16_i16", I16, W_I16, OUT_I16, "int64"),
    ("i16d_i16d", I16D, ("int16", fixed_point(13)), ("int16", fixed_point(2)), "int64"),
    ("i16d_i16d_bias32", I16D, ("int16", fixed_point(13)), ("int16", fixed_point(2)), "int32"),
    ("i16d_i16pc", ("int16", fixed_point(14)), ("int16", "pc"), ("int16", fixed_point(1)),
     "int64"),
    ("u8_i8", U8, W_I8, OUT_U8, "int32"),
    ("u8_u8_to_i8", U8, W_U8, OUT_I8, None),
    ("u8_i16", U8, W_I16, OUT_U8, "int32"),
    ("i16_u8", I16, W_U8, OUT_I16, "int32"),
    ("u8_u8_to_f32", U8, W_U8, ("float32", NONE), "int32"),
    ("i8_i8_to_f16", I8, W_I8, ("float16", NONE), "int32"),
    ("u16_u16", ("uint16", per_tensor(0.0004, 30000)), ("uint16", per_tensor(0.0001, 33000)),
     ("uint16", per_tensor(0.017, 31000)), "int64"),
    ("u4_u4", ("uint4", per_tensor(0.25, 6)), ("uint4", per_tensor(0.1, 8)),
     ("uint4", per_tensor(1.3, 7)), "int32"),
    ("i4_i4", ("int4", per_tensor(0.2, 1)), ("int4", per_tensor(0.1)),
     ("int4", per_tensor(1.1, -1)), "int32"),
    ("u8_i4", U8, ("int4", per_tensor(0.1)), OUT_U8, "int32"),
]


def add_floats(suite):
    for i, case in enumerate(SHAPES):
        suite.add(f"f32_{case[0]}", lambda rng: float_case(
            rng, case, "float32", named=i % 2 == 0))
        if case[0] in FEW:
            suite.add(f"f32_{case[0]}_integers", lambda rng: float_case(
                rng, case, "float32", exact=True))
            suite.add(f"f16_{case[0]}", lambda rng: float_case(rng, case, "float16"))
            suite.add(f"f32_{case[0]}_input_weight", lambda rng: float_case(
                rng, case, "float32", "var"))
    suite.add("f16_half_bias", lambda rng: float_case(
        rng, SHAPES[1], "float16", bias_dtype="float16"))
    suite.add("f32_half_bias", lambda rng: float_case(
        rng, SHAPES[1], "float32", bias_dtype="float16"))


def add_quantized(suite):
    cases = {case[0]: case for case in SHAPES}
    for name, x, w, out, bias in QUANTIZED:
        eight_bit = name in ("u8_u8", "i8_i8", "u8_i8pc", "i8_i8pc", "i8d_i8d")
        for shape in FEW:
            if shape != "batch31_33_to_32" or eight_bit:
                suite.add(f"{name}_{shape}", lambda rng: quantized(
                    rng, cases[shape], x, w, out, bias))
    case = cases["axis1_keeps_two"]
    suite.add("u8_u8_input_weight", lambda rng: quantized(
        rng, case, U8, W_U8, OUT_U8, "int32", "var"))
    narrow = ("uint8", per_tensor(0.02, 100))
    case = cases["axis2_flattens_whc"]
    for name, policy in (("saturates", None), ("wrap", {"wrap": True}),
                         ("to_zero", {"to_zero": True})):
        suite.add(f"u8_u8_{name}", lambda rng: quantized(
            rng, case, U8, W_U8, narrow, "int32", policy=policy))


def main():
    suite = Suite(__file__, onnxruntime)
    add_floats(suite)
    add_quantized(suite)
    suite.write()


if __name__ == "__main__":
    main()
