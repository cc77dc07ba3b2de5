"""Goldens of Select. Oracles: ONNX Runtime's Where for float32 and int32, NumPy
for the rest: copies where quantizations are equal, else the DataConvert rule."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from broadcast import (B8, F16, F32, I4A, I8, I8A, I8D, I16A, I16D, I32, I64, SHAPES, U4A,
                       U8A, draw, title)
from golden_format import Case, Suite, Tensor, fixed_point, per_tensor, store

KINDS = [(B8, k, k, k) for k in (F32, F16, I32, U8A, I8A, I8D, I16A, I16D, B8, I64, U4A, I4A)]
KINDS += [
    (I8, F32, F32, F32), (B8, U8A, ("uint8", per_tensor(0.031, 133)), ("uint8", per_tensor(0.0831, 119))),
    (B8, U8A, I8A, U8A), (B8, F32, U8A, U8A), (B8, U8A, F32, F32), (B8, F16, F32, F32),
    (B8, I8D, ("int8", fixed_point(3)), ("int8", fixed_point(4))),
    (B8, I16A, ("int16", per_tensor(0.0007, 5)), I16A),
]


def case(rng, shapes, kinds):
    condition, x, y = (draw(rng, kind, shape) for kind, shape in zip(kinds, shapes))
    condition.array[rng.random(condition.array.shape) < 0.4] = 0
    out = kinds[3]
    if kinds[1] == kinds[2] == out:
        result = np.where(condition.array != 0, x.array, y.array)
        if kinds[1] in (F32, I32):
            found = oracle.run_onnx("Where", [condition.array != 0, x.array, y.array],
                                    output_type=x.array.dtype)
            oracle.require_equal(found, result, "ORT Where")
        return Case("tim.Select", {}, [condition, x, y], Tensor(out[0], result, out[1]))
    fixed = out[1].kind == "fixed"
    first = store(x.real(), *out, exact=fixed or kinds[1] == out)
    second = store(y.real(), *out, exact=fixed or kinds[2] == out)
    result = np.where(condition.array != 0, first.array, second.array)
    return Case("tim.Select", {}, [condition, x, y], Tensor(out[0], result, out[1]))


def bits(rng):
    """NaN and infinities are copied."""
    x = np.array([np.nan, np.inf, -0.0, 1e-44, 5], np.float32)
    y = np.array([1, 2, 3, 4, -np.inf], np.float32)
    c = np.array([0, 1, 1, 1, 0])
    return Case("tim.Select", {}, [Tensor("bool8", c), Tensor("float32", x), Tensor("float32", y)],
                Tensor("float32", np.where(c, x, y)))


def main():
    suite = Suite(__file__, onnxruntime)
    for name, shapes in SHAPES:
        few = KINDS if name in ("r4", "r3_both_ways") else KINDS[:4]
        for kinds in few:
            copies = "" if kinds[1] == kinds[2] == kinds[3] else "converted_"
            suite.add(f"{title(kinds[:3], kinds[3])}_{copies}{name}",
                      lambda rng: case(rng, shapes, kinds))
    suite.add("f32_bits", bits)
    suite.write()


if __name__ == "__main__":
    main()
