"""Goldens of Concat. Oracles: ONNX Runtime's Concat, NumPy; requantized inputs by
the rule of the specification in float64."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (NONE, Case, Suite, Tensor, fixed_point, per_tensor,
                           random_tensor, store)


def shapes_along(shape, axis, extents):
    return [shape[:axis] + (n,) + shape[axis + 1:] for n in extents]


def case_of(rng, shapes, axis, kinds, out, absent=0, const=()):
    """`axis` counts row-major. Inputs beyond the shapes are absent."""
    inputs = [random_tensor(rng, kinds[i % len(kinds)][0], shape, kinds[i % len(kinds)][1])
              for i, shape in enumerate(shapes)]
    for i in const:
        inputs[i].role = "const"
    parts = []
    for x in inputs:
        same = (x.dtype, x.quant.text()) == (out[0], out[1].text())
        parts.append(x if same else store(x.real(), *out))
    joined = np.concatenate([p.array for p in parts], axis)
    found = oracle.run_onnx("Concat", [p.array for p in parts], axis=axis)
    oracle.require_equal(found, joined, "ORT Concat")
    attributes = {"axis": len(shapes[0]) - 1 - axis, "input_cnt": len(shapes) + absent}
    return Case("tim.Concat", attributes, inputs + [None] * absent,
                Tensor(out[0], joined, out[1]))


# name, shapes (row-major), axis (row-major)
LAYOUTS = [
    ("one_input", [(3, 5)], 1),
    ("r1", [(1,), (33,), (5,)], 0),
    ("r2_axis0", shapes_along((3, 0), 1, (31, 1, 7)), 1),
    ("r2_axis1", shapes_along((0, 5), 0, (2, 3)), 0),
    ("r3_axis1", shapes_along((2, 0, 5), 1, (1, 4)), 1),
    ("r4_channels", shapes_along((2, 0, 3, 5), 1, (16, 32, 3)), 1),
    ("r4_channels_odd", shapes_along((1, 0, 2, 3), 1, (5, 1, 7, 33)), 1),
    ("r4_width", shapes_along((2, 3, 2, 0), 3, (1, 5, 2)), 3),
    ("r4_height", shapes_along((2, 3, 0, 4), 2, (3, 1)), 2),
    ("r4_batch", shapes_along((0, 3, 2, 4), 0, (1, 2)), 0),
    ("r5", shapes_along((2, 2, 0, 2, 3), 2, (3, 2)), 2),
    ("r6", shapes_along((1, 2, 1, 2, 0, 3), 4, (2, 3)), 4),
    ("twenty", shapes_along((2, 0, 3), 1, [1 + i % 3 for i in range(20)]), 1),
]
FEW = ("r2_axis0", "r4_channels_odd", "r4_width")

U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
U8B, U8C = ("uint8", per_tensor(0.037, 90)), ("uint8", per_tensor(0.0213, 7))
F32, F16 = ("float32", NONE), ("float16", NONE)
PLAIN = [
    ("f16", F16), ("u8", U8), ("i8", I8), ("i8d", ("int8", fixed_point(4))),
    ("i16", ("int16", per_tensor(0.0005, 300))), ("i16d", ("int16", fixed_point(8))),
    ("i32", ("int32", NONE)), ("b8", ("bool8", NONE)), ("u4", ("uint4", per_tensor(0.3, 7))),
    ("i4", ("int4", per_tensor(0.3, -1))), ("i64", ("int64", NONE)),
    ("u16", ("uint16", per_tensor(0.0005, 30000))), ("plain_i16", ("int16", NONE)),
    ("plain_u8", ("uint8", NONE)),
]
MIXED = [
    ("u8_three_scales", [U8, U8B, U8C], U8), ("u8_to_other", [U8], U8B),
    ("i8_two_scales", [I8, ("int8", per_tensor(0.027, 3))], I8),
    ("i8d_two_fl", [("int8", fixed_point(4)), ("int8", fixed_point(3))], ("int8", fixed_point(4))),
    ("i16_two_scales", [("int16", per_tensor(0.0005, 300)), ("int16", per_tensor(0.0009, 0))],
     ("int16", per_tensor(0.0005, 300))),
    ("u8_i8", [U8, I8], U8), ("f32_f16_to_f32", [F32, F16], F32), ("f32_u8_to_f32", [F32, U8], F32),
    ("f32_u8_to_u8", [F32, U8], U8B), ("f32_f16_to_f16", [F32, F16], F16),
]


def main():
    suite = Suite(__file__, onnxruntime)
    for name, shapes, axis in LAYOUTS:
        for kind in (F32, U8):
            suite.add(f"{kind[0]}_{name}", lambda rng: case_of(rng, shapes, axis, [kind], kind))
        if name in FEW:
            for kind_name, kind in PLAIN:
                suite.add(f"{kind_name}_{name}", lambda rng: case_of(
                    rng, shapes, axis, [kind], kind))
            for kind_name, kinds, out in MIXED:
                suite.add(f"{kind_name}_{name}", lambda rng: case_of(
                    rng, shapes, axis, kinds, out))
    shapes = shapes_along((2, 0, 3, 5), 1, (4, 3))
    suite.add("f32_absent_tail", lambda rng: case_of(rng, shapes, 1, [F32], F32, absent=2))
    suite.add("f32_constant_input", lambda rng: case_of(rng, shapes, 1, [F32], F32, const=(1,)))
    suite.write()


if __name__ == "__main__":
    main()
