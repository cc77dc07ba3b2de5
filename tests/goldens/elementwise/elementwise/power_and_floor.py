"""Cases of Pow and FloorDiv. Oracles: ONNX Runtime's Pow (2 ulp) and C's pow in
float64, Python's integers, NumPy's floor in float64, refused where a quotient
lies so near an integer that float32 may decide otherwise."""

import math

import numpy as np

import oracle
from broadcast import (F16, F32, I4A, I8A, I8D, I16, I16A, I16D, I32, I64, SHAPES, U4A, U8A,
                       draw, title, values)
from golden_format import TYPES, Case, NearTie, Tensor, close, fit, is_float, per_tensor, store

U8_POW = ("uint8", per_tensor(0.031, 5))
I8_POW = ("int8", per_tensor(0.031, -120))
I16_POW = ("int16", per_tensor(0.0001, -32000))
POW_ULPS = close(2.0**-149 * 1.5, 1.5 * 2.0**-23)
# base, exponent, result
POWERS = [
    ((F32, F32), F32), ((F16, F16), F16), ((U8_POW, U8A), ("uint8", per_tensor(0.43, 3))),
    ((I8_POW, I8A), ("int8", per_tensor(0.43, -120))),
    ((I16_POW, I16A), ("int16", per_tensor(0.021, -117))), ((I8D, I8D), I8D),
    ((I16D, I16D), I16D), ((U4A, U4A), ("uint4", per_tensor(0.91, 1))),
    ((I4A, I4A), ("int4", per_tensor(0.91, -7))), ((F32, U8A), ("uint8", per_tensor(0.43, 3))),
    ((U8_POW, F32), F32), ((F16, I8A), F16), ((F32, F32), ("uint8", per_tensor(0.037, 3))),
    ((F32, F32), F16), ((I16_POW, F32), ("int16", per_tensor(0.011, -117))),
    ((F16, U8A), ("uint8", per_tensor(0.43, 3))), ((U8_POW, I8A), F32),
]
FLOORS = [
    ((F32, F32), F32), ((F16, F16), F16), ((U8A, I8A), ("uint8", per_tensor(0.5, 119))),
    ((U8A, U8A), ("uint8", per_tensor(0.5, 119))), ((I8A, I8A), ("int8", per_tensor(0.5, 5))),
    ((I16A, I16A), ("int16", per_tensor(0.5, -117))), ((I8D, I8D), I8D),
    ((I16D, I16D), I16D), ((U4A, U4A), ("uint4", per_tensor(1.0, 7))),
    ((I4A, I4A), ("int4", per_tensor(1.0, -1))), ((F32, U8A), ("uint8", per_tensor(0.5, 119))),
    ((U8A, F32), F32), ((F16, U8A), ("uint8", per_tensor(0.5, 119))), ((F16, I8A), F16),
    ((F32, F32), ("uint8", per_tensor(0.5, 119))), ((U8A, I8A), F32),
    ((I16A, F32), ("int16", per_tensor(0.5, -117))),
]
PLAIN = [((I32, I32), I32), ((I16, I32), I32), ((I64, I64), I64)]


def positive(x):
    """So that no power is NaN."""
    if is_float(x.dtype):
        x.array = np.maximum(np.abs(x.array), np.asarray(0.125, x.array.dtype))
    else:
        one = x.quant.zero() + 1
        x.array = np.maximum(x.array, one).astype(x.array.dtype)


def power(rng, shapes, kinds, out):
    a, b = (draw(rng, kind, shape) for kind, shape in zip(kinds, shapes))
    positive(a)
    with np.errstate(over="ignore"):
        real = np.power(values(a), values(b))
    if kinds == (F32, F32) and out == F32:
        found = oracle.run_onnx("Pow", [a.array, b.array])
        assert np.all(np.abs(found - real) <= 2.0**-22 * np.abs(real))
    if out == F32:
        return Case("tim.Pow", {}, [a, b], Tensor("float32", real.astype(np.float32)), POW_ULPS)
    return Case("tim.Pow", {}, [a, b], store(real, *out))


def c_pow(x, y):
    """Of C, which knows no exceptions."""
    try:
        return math.pow(x, y)
    except OverflowError:
        odd = float(y).is_integer() and abs(y) < 2**53 and int(y) % 2
        return -math.inf if x < 0 and odd else math.inf
    except ValueError:  # 0 to a negative power, or no real result
        if x != 0:
            return math.nan
        odd = float(y).is_integer() and abs(y) < 2**53 and int(y) % 2
        return math.copysign(math.inf, x) if odd else math.inf


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 2.5, np.inf, -np.inf, np.nan,
           1e30, -1e30, 16777215.0, 16777216.0, 1e-44, 0.99999994, 3e38]


def special_powers(rng):
    a = np.repeat(np.array(SPECIAL, np.float32), len(SPECIAL))
    b = np.tile(np.array(SPECIAL, np.float32), len(SPECIAL))
    with np.errstate(over="ignore"):
        out = np.array([c_pow(float(x), float(y)) for x, y in zip(a, b)]).astype(np.float32)
    return Case("tim.Pow", {}, [Tensor("float32", a), Tensor("float32", b)],
                Tensor("float32", out), POW_ULPS)


def whole_range(rng):
    """Results of every exponent, from bases of every exponent."""
    a = np.ldexp(rng.uniform(1, 2, 4000), rng.integers(-149, 127, 4000)).astype(np.float32)
    b = (rng.uniform(-149, 127.9, 4000) / np.log2(a.astype(np.float64))).astype(np.float32)
    with np.errstate(over="ignore"):
        out = np.power(a.astype(np.float64), b.astype(np.float64))
    keep = np.isfinite(out.astype(np.float32)) & np.isfinite(b)
    return Case("tim.Pow", {}, [Tensor("float32", a[keep]), Tensor("float32", b[keep])],
                Tensor("float32", out[keep].astype(np.float32)), POW_ULPS)


def integer_power(a, b):
    if b >= 0:
        return a**min(b, 64 + b % 2)  # beyond, what is not 0 or 1 exceeds 64 bits
    if a == 0:
        return 2**63 - 1
    return a ** (b % 2) if abs(a) == 1 else 0


def floor_divide(a, b):
    if b == 0:
        return 0 if a == 0 else 2**63 - 1 if a > 0 else -(2**63)
    return a // b


def plain(rng, op, apply, shapes, kinds, out):
    if op == "Pow":
        a = Tensor(kinds[0][0], rng.integers(-12, 13, shapes[0]))
        b = Tensor(kinds[1][0], rng.integers(-3, 12, shapes[1]))
    else:
        a, b = draw(rng, kinds[0], shapes[0]), draw(rng, kinds[1], shapes[1])
        b.array = np.where(b.array == 0, 7, b.array).astype(b.array.dtype)
    exact = np.vectorize(lambda x, y: apply(int(x), int(y)), otypes=[object])(a.array, b.array)
    return Case("tim." + op, {}, [a, b], Tensor(out[0], fit(exact, out[0])))


def limits(rng, op, apply, dtype):
    low, high = TYPES[dtype][1:]
    row = np.array([low, low + 1, -3, -2, -1, 0, 1, 2, 7, 63, 64, 65, high - 1, high], object)
    a, b = np.repeat(row, len(row)), np.tile(row, len(row))
    exact = np.array([apply(x, y) for x, y in zip(a, b)], object)
    return Case("tim." + op, {}, [Tensor(dtype, a), Tensor(dtype, b)],
                Tensor(dtype, fit(np.clip(exact, -(2**63), 2**63 - 1), dtype)))


def floor(rng, shapes, kinds, out):
    a, b = (draw(rng, kind, shape) for kind, shape in zip(kinds, shapes))
    b.array = np.where(b.real() == 0, 1 if is_float(b.dtype) else b.quant.zero() + 1,
                       b.array).astype(b.array.dtype)
    if kinds[0] == kinds[1] and not is_float(kinds[0][0]):
        real = np.floor_divide(*np.broadcast_arrays(a.centered(), b.centered()))
    else:
        turns = values(a) / values(b)
        near = np.abs(turns - np.rint(turns))
        # Quotients of halves that are integers are exact.
        if np.any((near < 1e-6 * (1 + np.abs(turns))) & ((near > 0) | (kinds[0] != kinds[1]))):
            raise NearTie
        real = np.floor(turns)
    real = real.astype(np.float64)
    if out[0] in ("float32", "float16"):
        return Case("tim.FloorDiv", {}, [a, b], store(real, *out, error=0))
    return Case("tim.FloorDiv", {}, [a, b], store(real, *out, exact=True))


def floor_by_zero(rng):
    a = np.array([1, -1, np.inf, 5, -5, 0.0], np.float32)
    b = np.array([0.0, 0.0, 2, np.inf, np.inf, -3], np.float32)
    out = np.array([np.inf, -np.inf, np.inf, 0, -1, -0.0], np.float32)
    # -5 / inf is -0 in float32, whose floor is -0.
    out[4] = -0.0
    return Case("tim.FloorDiv", {}, [Tensor("float32", a), Tensor("float32", b)],
                Tensor("float32", out))


def add_all(suite):
    for name, shapes in SHAPES:
        every = name in ("r4", "r3_both_ways")
        for kinds, out in POWERS if every else POWERS[:3]:
            suite.add(f"pow_{title(kinds, out)}_{name}",
                      lambda rng: power(rng, shapes, kinds, out))
        for kinds, out in FLOORS if every else FLOORS[:3]:
            suite.add(f"floordiv_{title(kinds, out)}_{name}",
                      lambda rng: floor(rng, shapes, kinds, out))
        for kinds, out in PLAIN:
            for op, apply in (("Pow", integer_power), ("FloorDiv", floor_divide)):
                suite.add(f"{op.lower()}_{title(kinds, out)}_{name}", lambda rng: plain(
                    rng, op, apply, shapes, kinds, out))
    for dtype in ("int8", "int32", "int64"):
        for op, apply in (("Pow", integer_power), ("FloorDiv", floor_divide)):
            suite.add(f"{op.lower()}_{dtype}_limits",
                      lambda rng: limits(rng, op, apply, dtype))
    suite.add("pow_f32_special", special_powers)
    suite.add("pow_f32_whole_range", whole_range)
    suite.add("floordiv_f32_by_zero", floor_by_zero)
