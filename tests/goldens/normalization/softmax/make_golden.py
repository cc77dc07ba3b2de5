"""Goldens of Softmax. float32 follows the bit-exact recipe of the operator
specification, with exp2 correctly rounded by mpmath; ONNX Runtime's Softmax and
NumPy in float64 check it and give the other types."""

import os
import sys

import mpmath
import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, Case, Suite, Tensor, close, fixed_point,
                           per_tensor, random_tensor, store)

mpmath.mp.prec = 200
F32 = np.float32


def exp2(t):
    """2^t of one float32, correctly rounded to float32."""
    if t == -np.inf:
        return F32(0)
    exact = mpmath.mpf(2) ** mpmath.mpf(float(t))
    near = F32(float(exact))
    around = [np.nextafter(near, F32(0)), near, np.nextafter(near, F32(np.inf))]
    best = min(around, key=lambda f: abs(exact - mpmath.mpf(float(f))))
    # Devices may flush subnormals; no golden depends on them.
    assert best == 0 or best >= np.finfo(F32).tiny
    return best if exact > mpmath.mpf(2) ** -150 else F32(0)


def recipe(x, beta, axis):
    """Every step rounded to float32; the sum runs along the axis in order."""
    k = F32(float(F32(beta)) * 1.44269504)
    assert k == F32(beta) * F32(1.44269504)  # both readings of the text
    x = np.moveaxis(x, axis, -1)
    d = x - x.max(axis=-1, keepdims=True)
    t = d * k
    e = np.vectorize(exp2, otypes=[F32])(t)
    total = np.zeros(e.shape[:-1] + (1,), F32)
    for i in range(e.shape[-1]):
        total = total + e[..., i:i + 1]
    y = e * (F32(1) / total)
    assert y.dtype == F32
    return np.moveaxis(y, -1, axis)


def softmax64(x, beta, axis):
    x = x.astype(np.float64)
    e = np.exp(beta * (x - x.max(axis=axis, keepdims=True)))
    return e / e.sum(axis=axis, keepdims=True)


def check(x, beta, axis, y):
    allowed = max(2e-7, 1e-9 * x.shape[axis])  # the float32 sum grows with it
    oracle.require_close(y, softmax64(x, beta, axis), "float64 softmax", allowed)
    if beta > 0 and np.isfinite(x).all():
        found = oracle.run_onnx("Softmax", [(x * F32(beta)).astype(F32)], axis=axis)
        oracle.require_close(found, y, "ORT Softmax", 1e-6)


def attributes(beta, axis, rank, negative):
    """`axis` counts row-major; fastest-first it is rank - 1 - axis."""
    ours = rank - 1 - axis
    return {"beta": float(F32(beta)), "axis": ours - rank if negative else ours}


def spread(rng, shape, scale):
    """float32 data without results in the subnormal range."""
    return (rng.standard_normal(shape) * scale).clip(-35, 35).astype(F32)


def float_case(rng, shape, axis, beta=1.0, negative=False, scale=2.0, data=None):
    x = spread(rng, shape, scale) if data is None else data(rng, shape)
    y = recipe(x, beta, axis)
    check(x, beta, axis, y)
    return Case("tim.Softmax", attributes(beta, axis, x.ndim, negative),
                [Tensor("float32", x)], Tensor("float32", y))


def minus_infinity(rng, shape):
    x = spread(rng, shape, 2)
    x[..., ::3] = -np.inf
    x[..., 1] = 1
    return x


def far_apart(rng, shape):
    """Differences beyond the range of exp: exactly 0."""
    x = spread(rng, shape, 2)
    x[..., ::2] -= 300
    x[..., 1] = 1e4
    return x


def typed_case(rng, shape, axis, x_kind, out_kind, beta=1.0, negative=False):
    x = random_tensor(rng, x_kind[0], shape, x_kind[1])
    real = softmax64(x.real(), beta, axis)
    check(x.real(), beta, axis, real)
    # `error`: of the float32 steps before the final rounding.
    slack = 1e-6 / out_kind[1].scale()
    out = store(real, *out_kind, error=6e-7, slack=slack)
    tolerance = close(3e-7) if out_kind[0] == "float32" else EXACT
    return Case("tim.Softmax", attributes(beta, axis, x.rank, negative), [x], out, tolerance)


# name, shape (row-major), axis (row-major)
SHAPES = [
    ("r1_1", (1,), 0), ("r1_31", (31,), 0), ("r1_33", (33,), 0), ("r1_257", (257,), 0),
    ("r2_axis0", (3, 9), 1), ("r2_axis1", (9, 3), 0), ("r2_1000", (2, 1000), 1),
    ("r2_axis1_33", (33, 5), 0),
    ("r3_axis0", (3, 2, 7), 2), ("r3_axis1", (3, 5, 4), 1), ("r3_axis2", (7, 2, 3), 0),
    ("r3_axis0_of_1", (3, 2, 1), 2), ("r3_axis1_31", (2, 31, 3), 1),
    ("r4_axis0", (2, 3, 2, 5), 3), ("r4_axis2", (2, 17, 2, 3), 1), ("r4_axis3", (4, 2, 2, 2), 0),
    ("r4_axis2_32", (1, 32, 2, 3), 1),
    ("r5_axis2", (2, 2, 5, 2, 3), 2), ("r6_axis1", (1, 2, 1, 2, 5, 2), 4),
]
FEW = ("r1_31", "r2_axis0", "r3_axis1", "r3_axis2", "r4_axis2", "r4_axis0")

U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
OUT_U8, OUT_I8 = ("uint8", per_tensor(1 / 256, 0)), ("int8", per_tensor(1 / 256, -128))
F16, FLOAT = ("float16", NONE), ("float32", NONE)
KINDS = [
    ("f16", F16, F16), ("u8", U8, OUT_U8), ("i8", I8, OUT_I8),
    ("i8d", ("int8", fixed_point(5)), ("int8", fixed_point(7))),
    ("i16", ("int16", per_tensor(0.0003, 300)), ("int16", per_tensor(1 / 4096, 20))),
    ("i16d", ("int16", fixed_point(12)), ("int16", fixed_point(14))),
    ("f32_to_f16", FLOAT, F16), ("f16_to_f32", F16, FLOAT),
    ("u8_to_f32", U8, FLOAT), ("u8_to_f16", U8, F16), ("i8_to_f32", I8, FLOAT),
    ("i16_to_f16", ("int16", per_tensor(0.0003, 300)), F16),
    ("i8d_to_f32", ("int8", fixed_point(5)), FLOAT),
    ("i16d_to_f32", ("int16", fixed_point(12)), FLOAT),
    ("f32_to_u8", FLOAT, OUT_U8), ("f16_to_i8", F16, OUT_I8),
    ("u8_wide_scale", ("uint8", per_tensor(0.5, 121)), OUT_U8),
    ("u8_other_zero", U8, ("uint8", per_tensor(0.0053, 31))),
]


def main():
    suite = Suite(__file__, onnxruntime, mpmath)
    for i, (name, shape, axis) in enumerate(SHAPES):
        suite.add(f"f32_{name}", lambda rng: float_case(rng, shape, axis))
        suite.add(f"f32_{name}_negative_axis", lambda rng: float_case(
            rng, shape, axis, negative=True, scale=8))
        for kind, x, out in KINDS:
            if name in FEW:
                suite.add(f"{kind}_{name}", lambda rng: typed_case(
                    rng, shape, axis, x, out, negative=i % 2 == 0))
    for beta in (0.5, 2.0, 0.25, 1.7, 0.1, 3.0, 0.0, -0.5):
        text = str(beta).replace(".", "_").replace("-", "minus_")
        for name, shape, axis in SHAPES:
            if name in ("r2_axis0", "r3_axis1", "r3_axis2"):
                suite.add(f"f32_beta_{text}_{name}", lambda rng: float_case(
                    rng, shape, axis, beta))
    suite.add("u8_beta_2", lambda rng: typed_case(rng, (3, 9), 1, U8, OUT_U8, 2.0))
    suite.add("f16_beta_0_5", lambda rng: typed_case(rng, (3, 9), 1, F16, F16, 0.5))
    suite.add("f32_equal_values", lambda rng: float_case(
        rng, (3, 7), 1, data=lambda r, s: np.full(s, 5.5, F32)))
    suite.add("f32_minus_infinity", lambda rng: float_case(
        rng, (3, 10), 1, data=minus_infinity))
    suite.add("f32_far_apart", lambda rng: float_case(rng, (3, 10), 1, data=far_apart))
    suite.add("f32_large_values", lambda rng: float_case(
        rng, (3, 10), 1, data=lambda r, s: spread(r, s, 3) + F32(1e4)))
    suite.write()


if __name__ == "__main__":
    main()
