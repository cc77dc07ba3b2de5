"""Goldens of LogicalAnd and LogicalOr. Oracle: ONNX Runtime's And and Or."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from broadcast import B8, I8, SHAPES, draw, title
from golden_format import Case, Suite, Tensor

OPS = {"LogicalAnd": "And", "LogicalOr": "Or"}


def case(rng, op, shapes, kinds, out):
    inputs = [draw(rng, kind, shape) for kind, shape in zip(kinds, shapes)]
    for tensor in inputs:  # random bytes are hardly ever 0
        tensor.array[rng.random(tensor.array.shape) < 0.4] = 0
    result = oracle.run_onnx(OPS[op], [x.array != 0 for x in inputs])
    return Case("tim." + op, {}, inputs, Tensor(out[0], result.astype(np.uint8)))


def main():
    suite = Suite(__file__, onnxruntime)
    for op in OPS:
        for name, shapes in SHAPES:
            for kinds, out in (((B8, B8), B8), ((I8, I8), I8), ((B8, I8), B8)):
                suite.add(f"{op.lower()}_{title(kinds, out)}_{name}",
                          lambda rng: case(rng, op, shapes, kinds, out))
    suite.write()


if __name__ == "__main__":
    main()
