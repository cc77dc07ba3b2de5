"""Goldens of AddN. Oracles: ONNX Runtime's Sum for float32, NumPy's exact sums
of codes in float64 for the rest, with one rounding in the end. float32 results
are sums in float32 from left to right, so they are compared exactly."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from broadcast import (F16, F32, I4A, I8A, I8D, I16, I16A, I16D, I32, I64, SHAPES, U4A, U8A,
                       draw, title, values)
from golden_format import Case, Suite, Tensor, fit, per_tensor, store

KINDS = [
    ((F32, F32), F32), ((F32, F32, F32), F32), ((F16, F16, F16), F16),
    ((U8A, U8A), ("uint8", per_tensor(0.083, 119))),
    ((U8A, U8A, U8A), ("uint8", per_tensor(0.1131, 119))),
    ((I8A, I8A, I8A), ("int8", per_tensor(0.0931, 5))), ((I8D, I8D, I8D), I8D),
    ((I16A, I16A, I16A), ("int16", per_tensor(0.0013, -117))), ((I16D, I16D, I16D), I16D),
    ((U4A, U4A, U4A), ("uint4", per_tensor(0.91, 7))),
    ((I4A, I4A, I4A), ("int4", per_tensor(0.91, -1))),
    ((U8A, F32, I8A), ("uint8", per_tensor(0.0831, 119))), ((U8A, F32, I8A), F32),
]
PLAIN = [((I32, I32), I32), ((I32, I32, I32), I32), ((I16, I32, I16), I32), ((I64, I64, I64), I64)]


def case(rng, shapes, kinds, out):
    inputs = [draw(rng, kind, shape) for kind, shape in zip(kinds, shapes)]
    attributes = {"num_inputs": len(inputs)}
    if out == F32:
        total = values(inputs[0]).astype(np.float32)
        for x in inputs[1:]:
            total = total + values(x).astype(np.float32)
        if set(kinds) == {F32}:
            found = oracle.run_onnx("Sum", [x.array for x in inputs])
            oracle.require_equal(found, total, "ORT Sum")
        return Case("tim.AddN", attributes, inputs, Tensor("float32", total))
    total = sum(x.real() for x in inputs)
    size = sum(np.abs(x.real()) for x in inputs)
    exact = {"error": 0} if out == F16 else {"exact": kinds[0] in (I8D, I16D)}
    if out == F16:  # multiples of 1/8
        return Case("tim.AddN", attributes, inputs, store(total, *out, error=0))
    return Case("tim.AddN", attributes, inputs, store(total, *out, magnitude=size, **exact))


def plain(rng, shapes, kinds, out, full=False):
    limit = 2**31 - 1 if full else 1000
    if kinds[0] == I64 and full:
        limit = 2**61
    inputs = []
    for kind, shape in zip(kinds, shapes):
        most = min(limit, 2**15 - 1) if kind == I16 else limit
        inputs.append(Tensor(kind[0], rng.integers(-most, most, shape)))
    total = sum(x.array.astype(object) for x in inputs)
    return Case("tim.AddN", {"num_inputs": len(inputs)}, inputs,
                Tensor(out[0], fit(total, out[0])))


def main():
    suite = Suite(__file__, onnxruntime)
    for name, shapes in SHAPES:
        for kinds, out in KINDS if name in ("r4", "r3_both_ways") else KINDS[:5]:
            suite.add(f"{title(kinds, out)}_{name}", lambda rng: case(rng, shapes, kinds, out))
        for kinds, out in PLAIN:
            suite.add(f"{title(kinds, out)}_{name}", lambda rng: plain(rng, shapes, kinds, out))
    for kinds, out in PLAIN:
        suite.add(f"{title(kinds, out)}_full", lambda rng: plain(
            rng, [(4, 33)] * 3, kinds, out, full=True))
    suite.write()


if __name__ == "__main__":
    main()
