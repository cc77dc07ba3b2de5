"""Goldens of DataConvert. Oracles: ONNX Runtime's QuantizeLinear and
DequantizeLinear, PyTorch's round and half, NumPy in float64."""

import os
import sys

import numpy as np
import onnxruntime
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (NONE, TYPES, Case, Suite, Tensor, fit, fixed_point, is_float,
                           per_channel, per_tensor, random_tensor, store)

OP = "tim.DataConvert"
KINDS = {
    "f32": ("float32", NONE), "f16": ("float16", NONE),
    "u8a": ("uint8", per_tensor(0.053, 121)), "i8a": ("int8", per_tensor(0.041, -7)),
    "u8a_coarse": ("uint8", per_tensor(0.31, 30)),
    "i16a": ("int16", per_tensor(0.0021, 300)), "u16a": ("uint16", per_tensor(0.0017, 30000)),
    "i8d": ("int8", fixed_point(4)), "i16d": ("int16", fixed_point(7)),
    "i8d_negative_fl": ("int8", fixed_point(-1)),
    "u4a": ("uint4", per_tensor(0.53, 6)), "i4a": ("int4", per_tensor(0.47, -1)),
    "i32": ("int32", NONE), "b8": ("bool8", NONE), "i16": ("int16", NONE), "u8": ("uint8", NONE),
    "i64": ("int64", NONE), "u32": ("uint32", NONE),
}
PLAIN = ("i32", "i16", "u8", "b8", "i64", "u32")
INTEGRAL = {  # real values are integers, for conversions to plain integers
    "u8a": ("uint8", per_tensor(2, 121)), "i8a": ("int8", per_tensor(3, -7)),
    "u8a_coarse": ("uint8", per_tensor(1, 30)), "i16a": ("int16", per_tensor(5, 300)),
    "u16a": ("uint16", per_tensor(2, 30000)), "i8d": ("int8", fixed_point(0)),
    "i16d": ("int16", fixed_point(-1)), "u4a": ("uint4", per_tensor(2, 6)),
    "i4a": ("int4", per_tensor(4, -1)),
}


def source(rng, name, to, shape):
    dtype, quant = KINDS[name]
    if name in PLAIN:
        low = 0 if TYPES[dtype][1] == 0 else -6
        return Tensor(dtype, rng.integers(low, 2 if name == "b8" else 7, shape))
    if to in PLAIN and to != "b8":
        dtype, quant = INTEGRAL.get(name, (dtype, quant))
        if is_float(dtype):
            return Tensor(dtype, rng.integers(-300, 300, shape))
    x = random_tensor(rng, dtype, shape, quant)
    if to == "b8":  # some exact zeros
        x.array.flat[::3] = 0 if is_float(dtype) else quant.zero()
    return x


def convert(x, kind):
    dtype, quant = kind
    if dtype == "bool8":
        return Tensor(dtype, x.real() != 0)
    if not is_float(dtype) and quant is NONE and not is_float(x.dtype) and x.quant is NONE:
        return Tensor(dtype, fit(x.array, dtype))
    if is_float(dtype):
        return store(x.real(), dtype, quant, error=2e-7)
    scales = [quant.scale(), x.quant.scale()]
    return store(x.real(), dtype, quant, exact=all(np.log2(s) % 1 == 0 for s in scales))


def check_with_onnx(x, y):
    """QuantizeLinear, DequantizeLinear and torch.round on 8-bit per-tensor pairs."""
    if x.dtype == "float32" and y.dtype in ("uint8", "int8") and y.quant.kind == "tensor":
        scale, zero = np.float32(y.quant.scale()), y.array.dtype.type(y.quant.zero())
        found = oracle.run_onnx("QuantizeLinear", [x.array, scale, zero], y.array.dtype)
        oracle.require_equal(found, y.array, "ORT QuantizeLinear")
        units = torch.tensor(x.array).double() / y.quant.scale() + y.quant.zero()
        codes = torch.round(units).clamp(*TYPES[y.dtype][1:]).numpy()
        oracle.require_equal(codes, y.array, "torch round")
    if y.dtype == "float32" and x.dtype in ("uint8", "int8") and x.quant.kind == "tensor":
        scale, zero = np.float32(x.quant.scale()), x.array.dtype.type(x.quant.zero())
        found = oracle.run_onnx("DequantizeLinear", [x.array, scale, zero], np.float32)
        oracle.require_equal(found, y.array, "ORT DequantizeLinear")
    if (x.dtype, y.dtype) == ("float32", "float16"):
        found = torch.tensor(x.array).to(torch.float16).numpy()
        oracle.require_equal(found, y.array, "torch half")


def pair(rng, name, to, shape):
    x = source(rng, name, to, shape)
    y = x if name == to else convert(x, KINDS[to])
    check_with_onnx(x, y)
    return Case(OP, {}, [x], Tensor(y.dtype, y.array, y.quant))


def fixed_case(x, y):
    check_with_onnx(x, y)
    return Case(OP, {}, [x], y)


def float_limits(dtype, quant):
    """Infinities, huge values and both ends of the range."""
    low, high = TYPES[dtype][1:]
    scale, zero = quant.scale(), quant.zero()
    ends = [(low - zero) * scale, (high - zero) * scale]
    x = np.array([np.inf, -np.inf, 1e30, -1e30, 0, ends[0] - 9 * scale, ends[0] - 0.3 * scale,
                  ends[0], ends[1], ends[1] + 0.3 * scale, ends[1] + 9 * scale], np.float32)
    x = Tensor("float32", x)
    return fixed_case(x, store(x.real(), dtype, quant))


def float_to_int32():
    x = np.array([np.inf, -np.inf, 2147483648, -2147483648, 2147483520, 3e9, -3e9, 16777216,
                  -1, 0, 1], np.float32)
    y = np.clip(x.astype(np.float64), *TYPES["int32"][1:]).astype(np.int64)
    return fixed_case(Tensor("float32", x), Tensor("int32", y))


def float_ties(dtype, zero, step):
    """x / scale is exact and ends in .5: half to even after adding the zero point."""
    low, high = TYPES[dtype][1:]
    units = np.arange(low - 1, high + 2, step) + 0.5
    x = Tensor("float32", (units - zero) * 0.25)
    y = Tensor(dtype, np.clip(np.rint(units), low, high).astype(int), per_tensor(0.25, zero))
    return Case(OP, {}, [x], y)


def code_ties(zero_in, zero_out):
    """Scale ratio 1/2, exact in float32: every odd code is a tie."""
    x = Tensor("uint8", np.arange(256).reshape(2, 128), per_tensor(0.25, zero_in))
    units = x.centered() * 0.5 + zero_out
    y = Tensor("uint8", np.clip(np.rint(units), 0, 255).astype(int), per_tensor(0.5, zero_out))
    return Case(OP, {}, [x], y)


def to_half_limits(rng):
    halves = np.array([0x0001, 0x0002, 0x03ff, 0x0400, 0x3c00, 0x3c01, 0x7bff], np.uint16)
    values = halves.view(np.float16).astype(np.float64)
    ulp = np.spacing(values.astype(np.float16) / 2).astype(np.float64) * 2
    ulp[:4] = 2.0**-24  # subnormal
    x = np.concatenate([values, values + ulp / 2, values - ulp / 2, values + 0.51 * ulp,
                        values + 0.49 * ulp, [np.inf, 65519.99, 65520, 65536, 2.9e-8, 3e-8,
                                              2.0**-25, 2.0**-24 * 1.5]])
    x = np.concatenate([x, -x]).astype(np.float32)
    with np.errstate(over="ignore"):
        y = x.astype(np.float16)
    return fixed_case(Tensor("float32", x), Tensor("float16", y))


def every_half(rng):
    x = np.arange(0, 2**16, 7).astype(np.uint16).view(np.float16)
    x = Tensor("float16", x[~np.isnan(x)])
    return Case(OP, {}, [x], Tensor("float32", x.array.astype(np.float32)))


def per_channel_cases(suite):
    shape = (3, 5, 2, 4)
    for axis in range(4):
        def quant(rng, zeros=False):
            n = shape[3 - axis]
            return per_channel(axis, rng.uniform(0.01, 0.05, n),
                               rng.integers(-30, 30, n) if zeros else (0,))

        def quantize(rng, zeros=False):
            x = random_tensor(rng, "float32", shape)
            return Case(OP, {}, [x], store(x.real(), "int8", quant(rng, zeros)))

        def dequantize(rng, out=KINDS["f32"]):
            x = random_tensor(rng, "int8", shape, quant(rng, True))
            return Case(OP, {}, [x], store(x.real(), *out))
        suite.add(f"f32_to_i8pc_axis{axis}", quantize)
        suite.add(f"f32_to_i8pc_zeros_axis{axis}", lambda rng: quantize(rng, True))
        suite.add(f"i8pc_to_f32_axis{axis}", dequantize)
        suite.add(f"i8pc_to_u8_axis{axis}", lambda rng: dequantize(rng, KINDS["u8a"]))


def main():
    suite = Suite(__file__, onnxruntime, torch)
    for name in KINDS:
        for to in KINDS:
            suite.add(f"{name}_to_{to}", lambda rng: pair(rng, name, to, (3, 11)))
    for shape in ((1,), (33,), (2, 3, 4, 5), (2, 1, 3, 2, 7), (1, 33, 3, 1)):
        text = "x".join(str(n) for n in shape)
        for name, to in (("f32", "u8a"), ("u8a", "f32"), ("u8a", "i8a"), ("f32", "f16"),
                         ("u4a", "f32"), ("f16", "i4a")):
            suite.add(f"{name}_to_{to}_{text}", lambda rng: pair(rng, name, to, shape))
    every = lambda: Tensor("uint8", np.arange(256).reshape(4, 64), KINDS["u8a"][1])
    suite.add("u8_every_code_to_f32", lambda rng: fixed_case(
        every(), convert(every(), KINDS["f32"])))
    suite.add("u8_every_code_to_coarser", lambda rng: fixed_case(
        every(), store(every().real(), "uint8", per_tensor(0.0711, 90))))
    suite.add("u8_every_code_to_finer", lambda rng: fixed_case(
        every(), store(every().real(), "uint8", per_tensor(0.0311, 140))))
    for name in ("u8a", "i8a", "i16a", "u16a", "i8d", "u4a", "i4a"):
        suite.add(f"f32_limits_to_{name}", lambda rng: float_limits(*KINDS[name]))
    suite.add("f32_limits_to_i32", lambda rng: float_to_int32())
    suite.add("f32_ties_to_u8_even_zero", lambda rng: float_ties("uint8", 120, 1))
    suite.add("f32_ties_to_u8_odd_zero", lambda rng: float_ties("uint8", 121, 1))
    suite.add("f32_ties_to_i8_odd_zero", lambda rng: float_ties("int8", -7, 1))
    suite.add("f32_ties_to_i16", lambda rng: float_ties("int16", -301, 257))
    suite.add("u8_ties_to_even_zero", lambda rng: code_ties(121, 60))
    suite.add("u8_ties_to_odd_zero", lambda rng: code_ties(120, 61))
    suite.add("f32_to_f16_limits", to_half_limits)
    suite.add("f16_to_f32_every_seventh", every_half)
    per_channel_cases(suite)
    suite.write()


if __name__ == "__main__":
    main()
