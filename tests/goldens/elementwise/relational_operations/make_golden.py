"""Goldens of the comparisons. Oracles: ONNX Runtime for float32 and int32,
NumPy on real values in float64 for the rest, where no two values are so near
that float32 may decide otherwise."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from broadcast import (B8, F16, F32, I8, I8A, I8D, I16A, I16D, I32, I64, SHAPES, U8A,
                       draw, title)
from golden_format import Case, NearTie, Suite, Tensor

OPS = {
    "Greater": np.greater, "GreaterOrEqual": np.greater_equal, "Less": np.less,
    "LessOrEqual": np.less_equal, "Equal": np.equal, "NotEqual": np.not_equal,
}
KINDS = [
    ((F32, F32), B8), ((F16, F16), B8), ((I32, I32), B8), ((B8, B8), B8), ((U8A, U8A), B8),
    ((I8A, I8A), B8), ((I8D, I8D), B8), ((I16A, I16A), B8), ((I16D, I16D), B8),
    ((F32, F32), I8), ((U8A, F32), B8), ((U8A, I8A), B8), ((I64, I32), B8), ((F16, F32), B8),
]


def on_onnx(op, a, b):
    if op == "NotEqual":
        return ~oracle.run_onnx("Equal", [a, b], output_type=bool)
    return oracle.run_onnx(op, [a, b], output_type=bool)


def case(rng, op, shapes, kinds, out):
    a, b = (draw(rng, kind, shape) for kind, shape in zip(kinds, shapes))
    x, y = np.broadcast_arrays(a.real(), b.real())
    if kinds[0] == kinds[1] and a.array.shape == b.array.shape:  # some are equal
        b.array = np.where(rng.random(a.array.shape) < 0.4, a.array, b.array)
        x, y = a.real(), b.real()
    elif kinds[0] != kinds[1] and np.any(np.abs(x - y) < 1e-6 * (np.abs(x) + np.abs(y))):
        raise NearTie
    result = OPS[op](x, y)
    if kinds[0] in (F32, I32) and kinds[0] == kinds[1]:
        oracle.require_equal(on_onnx(op, a.array, b.array), result, "ORT " + op)
    return Case("tim." + op, {}, [a, b], Tensor(out[0], result.astype(np.uint8)))


SPECIAL = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -2.5, 3e38, 1e-44]


def special(rng, op):
    a = np.repeat(np.array(SPECIAL, np.float32), len(SPECIAL))
    b = np.tile(np.array(SPECIAL, np.float32), len(SPECIAL))
    result = OPS[op](a, b)
    oracle.require_equal(on_onnx(op, a, b), result, "ORT " + op)
    return Case("tim." + op, {}, [Tensor("float32", a), Tensor("float32", b)],
                Tensor("bool8", result.astype(np.uint8)))


def large_integers(rng, op, dtype):
    """Neighbours that float32 does not tell apart."""
    top = 2**31 - 1 if dtype == "int32" else 2**63 - 1
    row = np.array([top, top - 1, -top - 1, -top, 2**24, 2**24 + 1, 0], np.int64)
    a, b = np.repeat(row, len(row)), np.tile(row, len(row))
    return Case("tim." + op, {}, [Tensor(dtype, a), Tensor(dtype, b)],
                Tensor("bool8", OPS[op](a, b).astype(np.uint8)))


def main():
    suite = Suite(__file__, onnxruntime)
    for op in OPS:
        prefix = op.lower()
        for name, shapes in SHAPES:
            few = KINDS if name in ("r4", "r3_both_ways") else KINDS[:1] + KINDS[4:5]
            for kinds, out in few:
                suite.add(f"{prefix}_{title(kinds, out)}_{name}",
                          lambda rng: case(rng, op, shapes, kinds, out))
        suite.add(f"{prefix}_special", lambda rng: special(rng, op))
        for dtype in ("int32", "int64"):
            suite.add(f"{prefix}_{dtype}_large", lambda rng: large_integers(rng, op, dtype))
    suite.write()


if __name__ == "__main__":
    main()
