"""Goldens of Mod. Oracles: ONNX Runtime's Mod for float32 with fmod, int32 and
int16; Python's integers for codes of one scale; NumPy's fmod in float64 for the
rest, where no dividend lies so near a multiple of the divisor that float32 may
decide otherwise. Remainders of floats are exact."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from broadcast import (F16, F32, I8A, I8D, I16, I16D, I32, I64, SHAPES, U8A, draw, title,
                       values)
from golden_format import Case, NearTie, Suite, Tensor, is_float, per_tensor, store

FLOATS = [((F32, F32), F32), ((F16, F16), F16), ((F16, F32), F32), ((F32, U8A), F32),
          ((U8A, F32), ("uint8", per_tensor(0.051371, 119)))]
INTEGERS = [((I32, I32), I32), ((I16, I16), I16), ((I64, I32), I64)]
OTHER = ("int8", per_tensor(0.0413, 3))
CODES = [((U8A, U8A), U8A), ((I8A, I8A), I8A), ((I8D, I8D), I8D), ((I16D, I16D), I16D),
         ((U8A, OTHER), ("int8", per_tensor(0.038771, -7))), ((U8A, U8A), F32)]


def without_zeros(x):
    x.array = np.where(x.real() == 0, 1 if is_float(x.dtype) else x.quant.zero() + 1,
                       x.array).astype(x.array.dtype)


def modulo(a, b, truncated):
    rest = np.fmod(a, b)
    if truncated:
        return rest
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


def case(rng, shapes, kinds, out, fmod):
    a, b = (draw(rng, kind, shape) for kind, shape in zip(kinds, shapes))
    without_zeros(b)
    attributes = {"fmod": 1} if fmod else {}
    truncated = bool(fmod) or any(is_float(kind[0]) for kind in kinds)
    if kinds in [k for k, _ in INTEGERS]:
        result = modulo(a.array.astype(np.int64), b.array.astype(np.int64), truncated)
        if a.dtype == b.dtype:
            found = oracle.run_onnx("Mod", [a.array, b.array], fmod=fmod)
            oracle.require_equal(found, result, "ORT Mod")
        return Case("tim.Mod", attributes, [a, b], Tensor(out[0], result))
    if kinds[0] == kinds[1] and not is_float(kinds[0][0]):
        units = modulo(a.centered(), b.centered(), truncated)
        real = units * a.quant.scale()
        # One unit is one code where the output is quantized alike.
        tensor = store(real, *out, exact=out == kinds[0]) if out != F32 else Tensor(
            "float32", (units.astype(np.float32) * np.float32(a.quant.scale())))
        return Case("tim.Mod", attributes, [a, b], tensor)
    x, y = np.broadcast_arrays(values(a), values(b))
    turns = x / y
    if kinds[0] != kinds[1] and np.any(
            (np.abs(turns - np.rint(turns)) < 1e-5) & (x != 0)):
        raise NearTie
    result = modulo(x, y, truncated)
    if kinds == (F32, F32):
        found = oracle.run_onnx("Mod", [a.array, b.array], fmod=1)
        oracle.require_equal(found, result.astype(np.float32), "ORT Mod")
    return Case("tim.Mod", attributes, [a, b], store(result, *out, error=0 if out == F16 else 4e-7))


def far_apart(rng):
    """Exponents that differ by up to 270, subnormals among them."""
    a = np.ldexp(rng.uniform(1, 2, 600), rng.integers(-149, 128, 600)).astype(np.float32)
    b = np.ldexp(rng.uniform(1, 2, 600), rng.integers(-149, 128, 600)).astype(np.float32)
    a = np.where(rng.random(600) < 0.5, -a, a)
    b = np.where((b == 0) | (rng.random(600) < 0.1), np.float32(np.inf), b)
    result = np.fmod(a, b)
    oracle.require_equal(oracle.run_onnx("Mod", [a, b], fmod=1), result, "ORT Mod")
    return Case("tim.Mod", {}, [Tensor("float32", a), Tensor("float32", b)],
                Tensor("float32", result))


def near_multiples(rng):
    b = rng.uniform(0.1, 3, 256).astype(np.float32)
    a = (b * rng.integers(1, 50, 256)).astype(np.float32)
    a = np.nextafter(a, np.where(rng.random(256) < 0.5, np.inf, 0).astype(np.float32))
    return Case("tim.Mod", {"fmod": 1}, [Tensor("float32", a), Tensor("float32", b)],
                Tensor("float32", np.fmod(a, b)))


def signs(rng, dtype, fmod):
    low = -(2**31) if dtype == "int32" else -(2**63)
    row = np.array([low, -7, -3, -2, -1, 1, 2, 3, 7, -low - 1], object)
    a, b = np.repeat(row, len(row)), np.tile(row, len(row))
    floored = np.array([x % y for x, y in zip(a, b)], object)
    truncated = np.array([abs(x) % abs(y) * (-1 if x < 0 else 1) for x, y in zip(a, b)], object)
    return Case("tim.Mod", {"fmod": fmod}, [Tensor(dtype, a), Tensor(dtype, b)],
                Tensor(dtype, truncated if fmod else floored))


def main():
    suite = Suite(__file__, onnxruntime)
    for fmod in (0, 1):
        for name, shapes in SHAPES:
            for kinds, out in FLOATS + INTEGERS + CODES:
                suite.add(f"{'fmod_' if fmod else ''}{title(kinds, out)}_{name}",
                          lambda rng: case(rng, shapes, kinds, out, fmod))
        for dtype in ("int32", "int64"):
            suite.add(f"{dtype}_signs_{fmod}", lambda rng: signs(rng, dtype, fmod))
    suite.add("f32_far_apart", far_apart)
    suite.add("f32_near_multiples", near_multiples)
    suite.write()


if __name__ == "__main__":
    main()
