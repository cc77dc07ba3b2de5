"""Goldens of Pad and PadV2. Oracles: NumPy's pad; ONNX Runtime's Pad where ONNX has
the mode, on codes as int32; requantized inputs and constants by the rule of the
specification in float64."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (NONE, Case, Suite, Tensor, fit, fixed_point, is_float,
                           per_tensor, random_tensor, store)

MODES = ["constant", "edge", "symmetric", "reflect"]


def constant_of(value, dtype, quant):
    """The element that the constant becomes, as NumPy's scalar."""
    if dtype == "bool8":
        return int(value != 0)
    if isinstance(value, int) and not is_float(dtype) and quant.kind == "none":
        return int(fit([value], dtype)[0])
    return store(np.array([value]), dtype, quant).array[0]


def check_with_onnx(array, pairs, mode, constant, expected):
    if mode == "symmetric":
        return
    wide = np.int64 if array.dtype == np.int64 else np.int32
    plain = array.astype(wide if array.dtype.kind in "iu" else np.float32)
    pads = [before for before, _ in pairs] + [after for _, after in pairs]
    found = oracle.run_onnx("Pad", [plain, np.array(pads, np.int64),
                                    np.asarray(constant).astype(plain.dtype)], mode=mode)
    oracle.require_equal(found.astype(array.dtype), expected, "ORT Pad")


def case_of(rng, shape, front, back, mode, constant, x_kind, out_kind=None):
    """An int constant makes a Pad, a float one a PadV2."""
    x = random_tensor(rng, x_kind[0], shape, x_kind[1])
    moved = x if out_kind is None else store(x.real(), *out_kind)
    fill = constant_of(constant, moved.dtype, moved.quant)
    pairs = list(zip(front, back))[::-1]
    options = {"constant_values": fill} if mode == "constant" else {}
    padded = np.pad(moved.array, pairs, mode, **options)
    check_with_onnx(moved.array, pairs, mode, fill, padded)
    attributes = {"front_size": list(front), "back_size": list(back),
                  "const_val": constant, "pad_mode": MODES.index(mode)}
    return Case("tim.Pad" if isinstance(constant, int) else "tim.PadV2", attributes, [x],
                Tensor(moved.dtype, padded, moved.quant))


# name, input (row-major), front, back (fastest-first)
PADS = [
    ("r1", (33,), (1,), (2,)),
    ("r1_vectors", (16,), (15,), (15,)),
    ("r2", (3, 5), (2, 1), (0, 2)),
    ("r2_nothing", (3, 5), (0, 0), (0, 0)),
    ("r2_two_tiles", (1, 1030), (17, 1), (40, 0)),
    ("r3_outermost", (4, 3, 7), (0, 0, 2), (0, 0, 1)),
    ("r4_space", (2, 3, 5, 7), (1, 1, 0, 0), (1, 1, 0, 0)),
    ("r4_space_uneven", (1, 17, 4, 5), (0, 3, 0, 0), (1, 2, 0, 0)),
    ("r4_channels", (2, 5, 4, 3), (0, 0, 2, 0), (0, 0, 3, 0)),
    ("r4_channels_last", (2, 4, 5, 3), (0, 1, 2, 0), (0, 2, 1, 0)),
    ("r4_all", (2, 3, 4, 5), (1, 2, 0, 1), (3, 0, 2, 1)),
    ("r5", (2, 3, 2, 2, 4), (3, 0, 1, 0, 1), (1, 1, 0, 2, 0)),
    ("r6", (2, 2, 3, 2, 2, 3), (0, 1, 0, 2, 1, 0), (1, 0, 1, 1, 0, 1)),
]
FEW = ("r2", "r4_space_uneven", "r4_channels_last")

U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
U8B, I8B = ("uint8", per_tensor(0.037, 90)), ("int8", per_tensor(0.0371693, 9))
I16 = ("int16", per_tensor(0.0005, 300))
F32, F16 = ("float32", NONE), ("float16", NONE)
PLAIN = [
    ("f16", F16), ("i8", I8), ("i16a", I16), ("i8d", ("int8", fixed_point(4))),
    ("i16d", ("int16", fixed_point(8))), ("i32", ("int32", NONE)), ("i64", ("int64", NONE)),
    ("i16", ("int16", NONE)), ("b8", ("bool8", NONE)), ("u4", ("uint4", per_tensor(0.3, 7))),
    ("i4", ("int4", per_tensor(0.3, -1))),
]
MIXED = [
    ("u8_to_u8", U8, U8B), ("u8_to_f32", U8, F32), ("f32_to_u8", F32, U8B),
    ("f32_to_f16", F32, F16), ("f16_to_f32", F16, F32), ("u8_to_i8", U8, I8B),
    ("i16a_to_i8", I16, I8B), ("f16_to_i8", F16, I8B),
]
ONE = ("r2", (3, 5), (2, 1), (0, 2))
FRACTION = float(np.float32(0.61))
# name, type, constant
CONSTANTS = [
    ("f32_integer", F32, -3), ("f32_inexact_integer", F32, 16777217),
    ("f32_fraction", F32, FRACTION), ("f16_fraction", F16, FRACTION),
    ("i32_exact", ("int32", NONE), 16777217), ("i32_rounded", ("int32", NONE), 2.75),
    ("u8_low", U8, -1000), ("u8_high", U8, 1e30), ("i8_low", I8, -1e30),
    ("i16a_high", I16, 1000), ("plain_u8_high", ("uint8", NONE), 256),
    ("plain_i16_low", ("int16", NONE), -40000), ("b8_true", ("bool8", NONE), 2),
    ("f16_overflow", F16, 100000),
]


def legal(mode, shape, front, back):
    largest = {"symmetric": 0, "reflect": -1}.get(mode, 1 << 30)
    return all(max(f, b) <= n + largest for n, f, b in zip(shape[::-1], front, back))


def main():
    suite = Suite(__file__, onnxruntime)
    for name, shape, front, back in PADS:
        for mode in MODES:
            if not legal(mode, shape, front, back):
                continue
            def add(kind_name, constant, *kinds):
                op = "pad" if isinstance(constant, int) else "pad_v2"
                suite.add(f"{kind_name}_{op}_{name}_{mode}", lambda rng: case_of(
                    rng, shape, front, back, mode, constant, *kinds))
            add("f32", FRACTION, F32)
            add("u8", 1, U8)
            if name not in FEW or mode in ("symmetric", "reflect"):
                continue
            for constant in (1, FRACTION):
                for kind_name, *kinds in PLAIN + MIXED:
                    add(kind_name, constant, *kinds)
            add("f32", 1, F32)
            add("u8", FRACTION, U8)
    _, shape, front, back = ONE
    for name, kind, constant in CONSTANTS:
        suite.add(f"constant_{name}", lambda rng: case_of(
            rng, shape, front, back, "constant", constant, kind))
    suite.write()


if __name__ == "__main__":
    main()
