"""Goldens of activations.h, clip.h and dropout.h. Oracles: ONNX Runtime's
operators, NumPy in float64.

float32 Tanh, Sigmoid and HardSwish: their contract is 3 ulp, so the tolerance
is 3 * 2^-23 of the result; likewise the others."""

import math
import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (NONE, TYPES, Case, Suite, Tensor, close, fixed_point, is_float,
                           per_tensor, random_tensor, store)
from unary import Function, add_all

CLIPS = {"Relu": (0, np.inf), "Relu6": (0, 6), "Relu1": (-1, 1)}
SMOOTH = {
    "Tanh": np.tanh,
    "Sigmoid": lambda x: np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x))),
    "HardSwish": lambda x: np.where(x == -np.inf, 0, np.where(
        x == np.inf, x, np.maximum(x, -3) * np.clip(x + 3, 0, 6) / 6)),
}
OPS = list(CLIPS) + list(SMOOTH)


def apply(x, op):
    """In the type of x where the operator clips, else in float64."""
    if op in SMOOTH:
        with np.errstate(invalid="ignore"):
            return SMOOTH[op](x.astype(np.float64))
    return np.minimum(np.maximum(x, CLIPS[op][0]), CLIPS[op][1])


def tolerance(op, out):
    return close(0, 3 * 2.0**-23) if op in SMOOTH and out.dtype == "float32" else "exact"


def check_with_onnx(x, op, real):
    x = x.astype(np.float32)
    if op in ("Relu1", "Relu6"):
        found = oracle.run_onnx("Clip", [x] + [np.float32(limit) for limit in CLIPS[op]])
    else:
        found = oracle.run_onnx(op, [x])
    oracle.require_close(found, real, "ORT " + op, 1e-6 * max(1, np.abs(real).max()))


def case_of(rng, op, shape, x_kind, out_kind=None):
    x = random_tensor(rng, x_kind[0], shape, x_kind[1])
    if is_float(x.dtype):  # both ends of Relu6; no negative zero
        x.array = (x.array * 4 + x.array.dtype.type(0.25)).astype(x.array.dtype)
    out_kind = out_kind or x_kind
    values = x.real()
    if out_kind[0] == "float32":  # the dequantized value is a float32 itself
        values = values.astype(np.float32).astype(np.float64)
    real = apply(values, op)
    check_with_onnx(values, op, real)
    if op in CLIPS and out_kind is x_kind and is_float(x.dtype):
        out = Tensor(x.dtype, apply(x.array, op))
    else:
        out = store(real, *out_kind, error=1e-7 if op in CLIPS else 4e-7)
    return Case("tim." + op, {}, [x], out, tolerance(op, out))


def plain(rng, op):
    x = Tensor("int32", np.arange(-20, 21))
    out = Tensor("int32", np.rint(apply(x.array, op)).astype(np.int64))
    return Case("tim." + op, {}, [x], out)


def limits(rng, op):
    """Infinities, the bounds themselves, their neighbours, subnormals."""
    six = np.float32(6)
    x = np.array([-np.inf, np.inf, 0, 6, np.nextafter(six, np.float32(9)), 3.4e38, -3.4e38,
                  np.nextafter(six, np.float32(0)), 1e-3, -1e-3, 7, -0.5], np.float32)
    out = Tensor("float32", apply(x, op))
    return Case("tim." + op, {}, [Tensor("float32", x)], out, tolerance(op, out))


def whole_range(rng, op):
    """Every power of two but subnormal ones, and where the functions bend."""
    x = np.concatenate([2.0 ** np.arange(-126, 128), np.linspace(0, 20, 401),
                        np.linspace(80, 110, 301)])
    x = Tensor("float32", np.concatenate([x, -x]))
    out = Tensor("float32", apply(x.array, op))
    smallest = close(2.0**-149, 3 * 2.0**-23)  # Sigmoid may be subnormal
    return Case("tim." + op, {}, [x], out, smallest if op in SMOOTH else "exact")


def half_limits(rng, op):
    x = np.array([-np.inf, np.inf, 0, 6, 6.004, 5.996, 65504, -65504, 6e-8, -6e-8],
                 np.float16)
    if op == "HardSwish":  # of the smallest half it is nearly a tie
        x = x[np.abs(x) > 1e-7]
    real = apply(x, op)
    out = Tensor("float16", real) if op in CLIPS else store(real, "float16")
    return Case("tim." + op, {}, [Tensor("float16", x)], out)


def every_code(rng, op, dtype, quant, out):
    low, high = TYPES[dtype][1:]
    x = Tensor(dtype, np.arange(low, high + 1).reshape(16, 16), quant)
    return Case("tim." + op, {}, [x], store(apply(x.real(), op), *out))


def single(value):
    """What an attribute is as float32."""
    return float(np.float32(value))


def slopes(alpha):
    return {"alpha": single(alpha)}


def elu(alpha):
    return lambda x: np.where(x >= 0, x, alpha * np.expm1(x))


def celu(alpha):
    return lambda x: np.where(x >= 0, x, alpha * np.expm1(x / alpha))


def selu(alpha, gamma):
    return lambda x: np.where(x >= 0, gamma * x, gamma * alpha * np.expm1(x))


def limited(f):
    """f(x), 0 where x is minus infinity."""
    return lambda x: np.where(x == -np.inf, 0, f(x))


def sigmoid(x):
    return np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))


def mish(x):
    e = np.exp(np.minimum(x, 50))
    return np.where(x > 50, x, x * (e * (e + 2) / (e * (e + 2) + 2)))


def gelu_tanh(x):
    return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


def gelu_erf(x):
    return x * np.vectorize(math.erfc)(-x / math.sqrt(2)) / 2


def functions():
    third, tenth = single(0.3), single(0.1)
    pair = {"alpha": single(0.2), "beta": single(0.6)}
    selus = {"alpha": single(1.67326), "gamma": single(1.0507)}
    line = {"a": single(1.7), "b": single(-0.3)}
    return [
        Function("Clip", lambda x: np.minimum(np.maximum(x, -1.5), 2.75), 0,
                 {"min": -1.5, "max": 2.75}),
        Function("Clip", lambda x: np.maximum(x, 0.5), 0, {"min": 0.5, "max": math.inf}),
        Function("LeakyRelu", lambda x: np.where(x > 0, x, tenth * x), 0, slopes(0.1),
                 onnx="LeakyRelu", onnx_attributes=slopes(0.1)),
        Function("Linear", lambda x: line["a"] * x + line["b"], 0, line),
        Function("HardSigmoid",
                 lambda x: np.clip(pair["alpha"] * x + pair["beta"], 0, 1), 0, pair,
                 onnx="HardSigmoid", onnx_attributes=pair),
        Function("Dropout", lambda x: third * x, 0, {"ratio": third}),
        Function("Sign", np.sign, onnx="Sign"),
        Function("SoftSign", lambda x: np.where(
            np.isinf(x), np.sign(x), x / (1 + np.abs(x))), 2, onnx="Softsign"),
        Function("Swish", limited(lambda x: x * sigmoid(x)), 4),
        Function("Mish", limited(mish), 5, onnx="Mish"),
        Function("SoftRelu", lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), 3,
                 onnx="Softplus"),
        Function("Elu", elu(1), 3, slopes(1), onnx="Elu"),
        Function("Elu", elu(third), 3, slopes(0.3), onnx="Elu", onnx_attributes=slopes(0.3)),
        Function("Selu", selu(*selus.values()), 4, selus, onnx="Selu", onnx_attributes=selus),
        Function("Celu", celu(1.25), 4, slopes(1.25), onnx="Celu",
                 onnx_attributes=slopes(1.25)),
        Function("Gelu", limited(gelu_tanh), 5, {"approximate": True}),
        Function("Gelu", limited(gelu_erf), 7, {"approximate": False}),
    ]


SHAPES = [("r1_1", (1,)), ("r1_33", (33,)), ("r2", (31, 3)), ("r3", (2, 3, 5)),
          ("r4", (2, 3, 4, 5)), ("r5", (2, 1, 3, 2, 7)), ("r4_32ch", (1, 32, 3, 3)),
          ("r6", (2, 1, 2, 1, 2, 3))]
U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.06, -7))
F32, F16 = ("float32", NONE), ("float16", NONE)
KINDS = [
    ("u8", U8, U8), ("i8", I8, I8),
    ("i16", ("int16", per_tensor(0.0005, 300)), None),
    ("i8d", ("int8", fixed_point(4)), None),
    ("i16d", ("int16", fixed_point(8)), None),
    ("u4", ("uint4", per_tensor(1.1, 6)), None),
    ("i4", ("int4", per_tensor(0.9, -1)), None),
    ("u8_requantized", U8, ("uint8", per_tensor(0.037, 20))),
    ("i8_requantized", I8, ("int8", per_tensor(0.047, -100))),
    ("u8_to_i8", U8, ("int8", per_tensor(0.047, -100))),
    ("i16_to_u8", ("int16", per_tensor(0.0005, 300)), ("uint8", per_tensor(0.037, 20))),
    ("i16d_to_i8d", ("int16", fixed_point(12)), ("int8", fixed_point(13))),
    ("f32_to_u8", F32, ("uint8", per_tensor(0.037, 20))),
    ("u8_to_f32", U8, F32), ("u8_to_f16", U8, F16),
    ("f16_to_i8", F16, ("int8", per_tensor(0.047, -100))),
    ("f32_to_f16", F32, F16), ("f16_to_f32", F16, F32),
]


def main():
    suite = Suite(__file__, onnxruntime)
    for op in OPS:
        name = op.lower()
        for rank, shape in SHAPES:
            for kind in (F32, F16, U8):
                suite.add(f"{name}_{kind[0]}_{rank}", lambda rng: case_of(
                    rng, op, shape, kind))
        for kind, x, out in KINDS:
            for rank, shape in (("r2_odd", (5, 7)), ("r4_tail", (2, 3, 5, 3))):
                suite.add(f"{name}_{kind}_{rank}", lambda rng: case_of(
                    rng, op, shape, x, out))
        if op not in ("Relu", "Relu6"):
            suite.add(f"{name}_i32_plain", lambda rng: plain(rng, op))
            suite.add(f"{name}_float32_whole_range", lambda rng: whole_range(rng, op))
        suite.add(f"{name}_float32_limits", lambda rng: limits(rng, op))
        suite.add(f"{name}_float16_limits", lambda rng: half_limits(rng, op))
        codes_out = ("uint8", per_tensor(0.0371, 90)) if op in SMOOTH else U8
        suite.add(f"{name}_u8_every_code", lambda rng: every_code(rng, op, *U8, codes_out))
        suite.add(f"{name}_i8_every_code_narrower", lambda rng: every_code(
            rng, op, *I8, ("int8", per_tensor(0.017, -90))))
    add_all(suite, functions())
    suite.write()


if __name__ == "__main__":
    main()
