"""Goldens of Cast. Oracles: ONNX Runtime's Cast between the types that it has,
where the value fits; NumPy for the rest: truncation, saturation, codes as
numbers whatever their quantization."""

import os
import sys

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (NONE, TYPES, Case, Suite, Tensor, fit, fixed_point, is_float,
                           per_channel, per_tensor, random_tensor)

KINDS = {
    "f32": ("float32", NONE), "f16": ("float16", NONE), "b8": ("bool8", NONE),
    "i8": ("int8", NONE), "u8": ("uint8", NONE), "i16": ("int16", NONE),
    "u16": ("uint16", NONE), "i32": ("int32", NONE), "u32": ("uint32", NONE),
    "i64": ("int64", NONE), "u8a": ("uint8", per_tensor(0.053, 121)),
    "i8a": ("int8", per_tensor(0.041, -7)), "i16a": ("int16", per_tensor(0.0021, 300)),
    "i8d": ("int8", fixed_point(4)), "i16d": ("int16", fixed_point(7)),
    "u4a": ("uint4", per_tensor(0.53, 6)), "i4a": ("int4", per_tensor(0.47, -1)),
    "i8pc": ("int8", per_channel(0, (0.5, 0.25, 0.125), (1, 2, 3))),
}
COMMON = ("f32", "i32", "b8", "u8a")  # cast from and to every type


def numbers(x, dtype):
    """The stored numbers of x in another type."""
    if dtype == "bool8":
        return x.array != 0
    if is_float(dtype):
        return x.array.astype(dtype)
    if not is_float(x.dtype):
        return fit(x.array.astype(object), dtype)
    low, high = TYPES[dtype][1:]
    truncated = np.trunc(np.nan_to_num(x.array.astype(np.float64), nan=0.0))
    clipped = [low if v <= low else high if v >= high else int(v) for v in truncated.flat]
    return np.array(clipped, object).reshape(x.array.shape)


def check_with_onnx(x, y):
    """Where ONNX defines the result: all values fit."""
    stored = {"bool8": np.bool_}
    low, high = TYPES[y.dtype][1:] if TYPES[y.dtype] else (-np.inf, np.inf)
    values = x.array.astype(np.float64)
    if "int4" in x.dtype or "int4" in y.dtype:  # in uint4, too
        return
    if y.dtype != "bool8" and not ((low <= values) & (values <= high)).all():
        return
    kind = np.dtype(stored.get(y.dtype, y.dtype))
    found = oracle.run_onnx("Cast", [x.array.astype(stored.get(x.dtype, x.dtype))], kind,
                            to=onnx.helper.np_dtype_to_tensor_dtype(kind))
    oracle.require_equal(found, y.array.astype(kind), f"ORT Cast {x.dtype} {y.dtype}")


def case_of(x, kind):
    y = Tensor(kind[0], numbers(x, kind[0]), kind[1])
    check_with_onnx(x, y)
    return Case("tim.Cast", {}, [x], y)


def pair(rng, name, to, shape):
    dtype, quant = KINDS[name]
    x = random_tensor(rng, dtype, shape, quant)
    if is_float(dtype):  # numbers of every size that the result can hold, and beyond
        x.array = (x.array * rng.choice([1, 30, 3000], shape)).astype(dtype)
    x.array.flat[::4] = 0
    return case_of(x, KINDS[to])


def float_limits(dtype, to):
    """Infinities, NaN where it has a number, both ends of the range, halves."""
    low, high = TYPES[to][1:] if TYPES[to] else (-70000, 70000)
    values = [np.inf, -np.inf, 1e30, -1e30, low - 1, low, high, high + 1, low - 0.9, high + 0.9,
              -0.9, 0.9, -0.5, 0.5, 1.5, -1.5, 2.5, -0.0, 0.0, 1e-40]
    if not is_float(to):
        values.append(np.nan)
    with np.errstate(over="ignore"):
        x = Tensor(dtype, np.array(values, np.float64).astype(dtype))
        return case_of(x, (to, NONE))


def integer_limits(dtype, to):
    low, high = TYPES[dtype][1:]
    wanted = [low, low + 1, -129, -128, -1, 0, 1, 127, 128, 255, 256, 32767, 32768, 65535,
              65536, 16777217, 2147483647, 2147483648, -2147483649, high - 1, high]
    x = np.array(sorted({v for v in wanted if low <= v <= high}), object)
    return case_of(Tensor(dtype, x), (to, NONE))


PLAIN = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")


def main():
    suite = Suite(__file__, onnxruntime)
    for name in KINDS:
        for to in KINDS:
            if name == to or name in COMMON or to in COMMON:
                suite.add(f"{name}_to_{to}", lambda rng: pair(rng, name, to, (5, 3)))
    for shape in ((1,), (33,), (2, 3, 4, 5), (2, 1, 3, 2, 7), (1, 33, 3, 1)):
        text = "x".join(str(n) for n in shape)
        for name, to in (("f32", "i32"), ("i32", "f32"), ("u8a", "f32"), ("f32", "u8a"),
                         ("f32", "f16"), ("i8", "b8")):
            suite.add(f"{name}_to_{to}_{text}", lambda rng: pair(rng, name, to, shape))
    for to in PLAIN + ("bool8", "float16"):
        suite.add(f"float32_limits_to_{to}", lambda rng: float_limits("float32", to))
    for to in PLAIN + ("bool8", "float32"):
        suite.add(f"float16_limits_to_{to}", lambda rng: float_limits("float16", to))
    for dtype in PLAIN:
        for to in PLAIN + ("float32", "float16", "bool8"):
            suite.add(f"{dtype}_limits_to_{to}", lambda rng: integer_limits(dtype, to))
    suite.write()


if __name__ == "__main__":
    main()
