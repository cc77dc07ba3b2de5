"""Goldens of Stack. Oracles: NumPy's stack, ONNX Runtime's Concat of unsqueezed
inputs; requantized inputs by the rule of the specification in float64."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import Case, Suite, Tensor, fixed_point, per_tensor, random_tensor, store
from moved import F16, F32, I8, PLAIN, U8, agree, widened

# name, input (row-major), axis (fastest-first), inputs
STACKS = [
    ("one", (3, 5), 0, 1),
    ("r1_axis0", (33,), 0, 2),
    ("r1_axis1", (33,), 1, 2),
    ("r2_axis0", (3, 5), 0, 3),
    ("r2_axis1", (3, 5), 1, 2),
    ("r2_axis2", (4, 16), 2, 4),
    ("r3_axis1", (2, 3, 17), 1, 3),
    ("r4_axis4", (2, 3, 2, 5), 4, 2),
    ("sixteen", (2, 3), 1, 16),
]
FEW = ("r2_axis1", "r3_axis1")

U8B, U8C = ("uint8", per_tensor(0.037, 90)), ("uint8", per_tensor(0.0213, 7))
MIXED = [
    ("u8_three_scales", [U8, U8B, U8C], U8), ("u8_to_other", [U8], U8B), ("u8_i8", [U8, I8], U8),
    ("i8d_two_fl", [("int8", fixed_point(4)), ("int8", fixed_point(3))], ("int8", fixed_point(4))),
    ("f32_f16_to_f32", [F32, F16], F32), ("f32_u8_to_f32", [F32, U8], F32),
    ("f32_u8_to_u8", [F32, U8], U8B), ("f32_f16_to_f16", [F32, F16], F16),
]


def case_of(rng, shape, axis, count, kinds, out):
    inputs, parts = [], []
    for i in range(count):
        kind = kinds[i % len(kinds)]
        x = random_tensor(rng, kind[0], shape, kind[1])
        same = (x.dtype, x.quant.text()) == (out[0], out[1].text())
        inputs.append(x)
        parts.append((x if same else store(x.real(), *out)).array)
    at = len(shape) - axis
    stacked = np.stack(parts, at)
    found = oracle.run_onnx("Concat", [np.expand_dims(widened(p), at) for p in parts], axis=at)
    agree(stacked, found.astype(stacked.dtype), "ORT Concat")
    return Case("tim.Stack", {"axis": axis, "input_cnt": count}, inputs,
                Tensor(out[0], stacked, out[1]))


def main():
    suite = Suite(__file__, onnxruntime)
    for name, shape, axis, count in STACKS:
        for kind in (F32, U8):
            suite.add(f"{kind[0]}_{name}", lambda rng: case_of(
                rng, shape, axis, count, [kind], kind))
        if name in FEW:
            for kind_name, kind in PLAIN:
                suite.add(f"{kind_name}_{name}", lambda rng: case_of(
                    rng, shape, axis, count, [kind], kind))
            for kind_name, kinds, out in MIXED:
                suite.add(f"{kind_name}_{name}", lambda rng: case_of(
                    rng, shape, axis, count, kinds, out))
    suite.write()


if __name__ == "__main__":
    main()
