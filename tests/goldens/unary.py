"""Cases of operators of one input: y = f(x), every combination of types.

A Function says the operator, its attributes, the formula in float64, the bound
of float32 results in units in the last place (0: exact), the domain that
quantized inputs are drawn from, and the ONNX operator that checks the formula.
"""

import os
import sys
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle
from golden_format import (NONE, TYPES, Case, Tensor, close, fixed_point, is_float,
                           per_tensor, store)


@dataclass
class Function:
    op: str
    real: Callable
    ulps: float = 0
    attributes: dict = field(default_factory=dict)
    domain: tuple = (-6.0, 6.0)
    onnx: str = ""  # another program's name of it
    onnx_attributes: dict = field(default_factory=dict)

    def __call__(self, x):
        with np.errstate(all="ignore"):
            return np.asarray(self.real(np.asarray(x, np.float64)), np.float64)


F32, F16 = "float32", "float16"
KINDS = [
    ("f32", F32, F32), ("f16", F16, F16), ("f32_to_f16", F32, F16), ("f16_to_f32", F16, F32),
    ("u8", "uint8", "uint8"), ("i8", "int8", "int8"), ("i16", "int16", "int16"),
    ("u4", "uint4", "uint4"), ("i4", "int4", "int4"), ("u8_to_i8", "uint8", "int8"),
    ("i16_to_u8", "int16", "uint8"), ("f32_to_u8", F32, "uint8"), ("u8_to_f32", "uint8", F32),
    ("u8_to_f16", "uint8", F16), ("f16_to_i8", F16, "int8"),
    ("i8d", "fixed8", "fixed8"), ("i16d", "fixed16", "fixed16"),
    ("i16d_to_i8d", "fixed16", "fixed8"),
]
FIXED = {"fixed8": "int8", "fixed16": "int16"}


def quantization(kind, low, high):
    """So that the codes hold low to high."""
    if kind in (F32, F16):
        return kind, NONE
    if kind in FIXED:
        bits = TYPES[FIXED[kind]][0] - 1
        reach = max(abs(low), abs(high), 2.0**-6)
        return FIXED[kind], fixed_point(int(bits - np.ceil(np.log2(reach * 1.01))))
    least, greatest = TYPES[kind][1:]
    scale = np.float32(max(high - low, 2.0**-6) / (greatest - least) * 1.037)
    zero = int(np.clip(round(least - low / scale + (greatest - least) * 0.017),
                       least, greatest))
    return kind, per_tensor(scale, zero)


def draw(rng, kind, shape, domain):
    dtype, quant = quantization(kind, *domain)
    if dtype == F32:
        return Tensor(dtype, rng.uniform(*domain, shape))
    if dtype == F16:  # multiples of 1/8
        low, high = int(np.ceil(domain[0] * 8)), int(np.floor(domain[1] * 8))
        return Tensor(dtype, rng.integers(low, high + 1, shape) / 8)
    codes = np.arange(TYPES[dtype][1], TYPES[dtype][2] + 1)
    real = (codes - quant.zero()) * quant.scale()
    inside = codes[(real >= domain[0]) & (real <= domain[1])]
    return Tensor(dtype, rng.choice(inside, shape), quant)


def tolerance(function, out):
    if out.dtype != F32 or function.ulps == 0:
        return "exact"
    ulps = function.ulps + 0.5  # what is expected is a float32 itself
    return close(2.0**-149 * ulps, ulps * 2.0**-23)


def check_with_onnx(function, x, real):
    if not function.onnx:
        return
    found = oracle.run_onnx(function.onnx, [x.astype(np.float32)],
                            **function.onnx_attributes)
    oracle.require_close(found, real, "ORT " + function.onnx,
                         3e-6 * max(1, np.abs(real).max()))


def case_of(rng, function, shape, x_kind, y_kind):
    x = draw(rng, x_kind, shape, function.domain)
    values = x.real()
    if not is_float(x.dtype):  # the real value of a code is a float32
        values = values.astype(np.float32).astype(np.float64)
    real = function(values)
    check_with_onnx(function, values, real)
    dtype, quant = quantization(y_kind, float(real.min()), float(real.max()))
    # A result that lies on a code or a half exactly is no tie.
    out = store(real, dtype, quant, error=1e-7 * max(function.ulps, 1))
    return Case("tim." + function.op, function.attributes, [x], out,
                tolerance(function, out))


def plain(rng, function):
    low, high = function.domain
    x = Tensor("int32", np.arange(int(np.ceil(max(low, -20))), int(min(high, 20)) + 1))
    real = function(x.array)
    values = np.rint(real)
    if np.any(np.abs(np.abs(real - values) - 0.5) < 1e-5 * (1 + np.abs(real))):
        keep = np.abs(np.abs(real - values) - 0.5) > 1e-5 * (1 + np.abs(real))
        x, values = Tensor("int32", x.array[keep]), values[keep]
    return Case("tim." + function.op, function.attributes, [x],
                Tensor("int32", values.astype(np.int64)))


def whole_range(function, extra=()):
    """Every power of two but subnormal ones, both infinities, NaN, and where
    most functions bend."""
    x = np.concatenate([2.0 ** np.arange(-126, 128), np.linspace(0, 20, 161), [1e30],
                        np.linspace(80, 110, 61), np.array([np.inf]), np.array(extra)])
    x = np.concatenate([x, -x]).astype(np.float32)
    real = function(x)
    x, real = x[~np.isnan(real)], real[~np.isnan(real)]
    with np.errstate(over="ignore"):
        out = Tensor(F32, real.astype(np.float32))
    return Case("tim." + function.op, function.attributes, [Tensor(F32, x)], out,
                tolerance(function, out))


def add_all(suite, functions):
    for function in functions:
        name = function.op.lower()
        for value in function.attributes.values():
            name += "_" + str(value).lower().replace(".", "p").replace("-", "m")
        for kind, x, y in KINDS:
            suite.add(f"{name}_{kind}", lambda rng: case_of(rng, function, (5, 7), x, y))
        for rank, shape in (("r1", (33,)), ("r4_tail", (2, 3, 5, 3)), ("r5", (2, 1, 3, 2, 7))):
            suite.add(f"{name}_f32_{rank}",
                      lambda rng: case_of(rng, function, shape, F32, F32))
        suite.add(f"{name}_i32_plain", lambda rng: plain(rng, function))
        suite.add(f"{name}_f32_whole_range", lambda rng: whole_range(function))
