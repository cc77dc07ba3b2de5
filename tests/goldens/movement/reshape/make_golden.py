"""Goldens of Reshape. Oracle: NumPy (the bytes stay, or convert one by one)."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import (NONE, Case, Suite, Tensor, fixed_point, per_channel, per_tensor,
                           random_tensor, store)

INFER = 2**32 - 1  # uint32_t(-1)


def resolve(shape, target):
    """Fastest-first target shape with 0 and INFER replaced."""
    dims = shape[::-1]
    if not target:
        return (1,)
    out = [dims[i] if n == 0 else n for i, n in enumerate(target)]
    if INFER in out:
        known = int(np.prod([n for n in out if n != INFER]))
        out[out.index(INFER)] = int(np.prod(dims)) // known
    return tuple(out)


def case_of(rng, shape, target, x_kind, out_kind=None):
    x = random_tensor(rng, x_kind[0], shape, x_kind[1])
    out = x if out_kind is None else store(x.real(), *out_kind)
    array = out.array.reshape(resolve(shape, target)[::-1])
    return Case("tim.Reshape", {"shape": list(target)}, [x],
                Tensor(out.dtype, array, out.quant))


# name, input (row-major), target (fastest-first)
TARGETS = [
    ("1_to_1", (1,), (1,)),
    ("same", (2, 3, 5), (5, 3, 2)),
    ("flatten", (2, 3, 4, 5), (120,)),
    ("r1_to_r4", (66,), (11, 3, 2, 1)),
    ("infer", (2, 3, 4, 5), (20, INFER)),
    ("infer_first", (3, 4, 5), (INFER, 4)),
    ("infer_all", (3, 31), (INFER,)),
    ("infer_is_1", (3, 5), (5, 3, INFER)),
    ("copy", (2, 3, 4, 5), (0, 12, 2)),
    ("copy_and_infer", (2, 3, 4, 5), (0, INFER, 0, 2)),
    ("copy_two", (2, 3, 5), (0, 0, 2, 1)),
    ("empty", (1, 1), ()),
    ("r5", (2, 3, 2, 1, 5), (5, 2, 1, 3, 2)),
    ("r5_to_r2", (2, 3, 2, 1, 5), (10, 6)),
    ("odd_33", (1, 33, 7), (7, 33, 1, 1)),
    ("splits_channels", (1, 34, 2, 3), (6, 17, 2)),
]
FEW = ("flatten", "infer", "copy", "odd_33")

U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
F32, F16 = ("float32", NONE), ("float16", NONE)
PLAIN = [
    ("f16", F16), ("i8", I8), ("i16", ("int16", per_tensor(0.0005, 300))),
    ("i8d", ("int8", fixed_point(4))), ("i16d", ("int16", fixed_point(8))),
    ("u16", ("uint16", per_tensor(0.0005, 30000))), ("i32", ("int32", NONE)),
    ("u32", ("uint32", NONE)), ("i64", ("int64", NONE)), ("b8", ("bool8", NONE)),
    ("plain_i8", ("int8", NONE)), ("plain_u8", ("uint8", NONE)),
    ("plain_i16", ("int16", NONE)),
]
MIXED = [
    ("u8_to_u8", U8, ("uint8", per_tensor(0.037, 90))), ("u8_to_f32", U8, F32),
    ("f32_to_u8", F32, U8), ("f32_to_f16", F32, F16), ("f16_to_f32", F16, F32),
    ("i8_to_u8", I8, U8), ("i8d_to_i8d", ("int8", fixed_point(4)), ("int8", fixed_point(5))),
    ("i16d_to_f32", ("int16", fixed_point(8)), F32), ("i32_to_f32", ("int32", NONE), F32),
]


def main():
    suite = Suite(__file__)
    for name, shape, target in TARGETS:
        for kind in (F32, U8):
            suite.add(f"{kind[0]}_{name}", lambda rng: case_of(rng, shape, target, kind))
        if name in FEW:
            for kind_name, kind in PLAIN:
                suite.add(f"{kind_name}_{name}", lambda rng: case_of(rng, shape, target, kind))
            for kind_name, x, out in MIXED:
                suite.add(f"{kind_name}_{name}", lambda rng: case_of(
                    rng, shape, target, x, out))
    # Rows of 4-bit codes start at whole bytes: 5 -> 3 bytes, 10 -> 5.
    for kind_name in ("uint4", "int4"):
        kind = (kind_name, per_tensor(0.3, 3))
        suite.add(f"{kind_name}_odd_rows", lambda rng: case_of(rng, (4, 5), (10, 2), kind))
        suite.add(f"{kind_name}_flatten", lambda rng: case_of(rng, (3, 2, 5), (30,), kind))
        suite.add(f"{kind_name}_to_odd_rows", lambda rng: case_of(rng, (30,), (5, 3, 2), kind))
        suite.add(f"{kind_name}_even_rows", lambda rng: case_of(rng, (3, 4), (2, 6), kind))
    # Every element keeps the scale that it had.
    channels = ("int8", per_channel(1, [0.01, 0.02, 0.005]))
    suite.add("i8pc_splits_axis0", lambda rng: Case(
        "tim.Reshape", {"shape": [2, 2, 3]}, *pc_split(rng, channels)))
    suite.write()


def pc_split(rng, kind):
    x = random_tensor(rng, kind[0], (3, 4), kind[1])
    quant = per_channel(2, x.quant.scales)
    return [x], Tensor("int8", x.array.reshape(3, 2, 2), quant)


if __name__ == "__main__":
    main()
