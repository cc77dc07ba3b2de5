"""Goldens of Transpose. Oracles: ONNX Runtime's Transpose, NumPy."""

import os
import sys

import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (NONE, Case, Suite, Tensor, fixed_point, per_channel,
                           per_tensor, random_tensor, store)


def row_major(perm):
    """Fastest-first permutation as NumPy's."""
    rank = len(perm)
    return [rank - 1 - perm[rank - 1 - i] for i in range(rank)]


def moved(quant, perm):
    if quant.kind != "channel":
        return quant
    return per_channel(perm.index(quant.axis), quant.scales, quant.zero_points)


def case_of(rng, shape, perm, x_kind, out_kind=None):
    x = random_tensor(rng, x_kind[0], shape, x_kind[1])
    out = x if out_kind is None else store(x.real(), *out_kind)
    array = out.array.transpose(row_major(perm))
    for i, p in enumerate(perm):  # out.dim[i] = in.dim[perm[i]], fastest-first
        assert array.shape[::-1][i] == shape[::-1][p]
    found = oracle.run_onnx("Transpose", [out.array], perm=row_major(perm))
    oracle.require_equal(found, array, "ORT Transpose")
    return Case("tim.Transpose", {"perm": list(perm)}, [x],
                Tensor(out.dtype, array, moved(out.quant, list(perm))))


# name, input (row-major), perm (fastest-first)
PERMS = [
    ("r1", (33,), (0,)),
    ("r2_identity", (3, 5), (0, 1)),
    ("r2", (3, 1), (1, 0)),
    ("r2_31x33", (31, 33), (1, 0)),
    ("r2_64x32", (64, 32), (1, 0)),
    ("r3_021", (2, 3, 5), (0, 2, 1)),
    ("r3_102", (2, 3, 5), (1, 0, 2)),
    ("r3_120", (7, 3, 5), (1, 2, 0)),
    ("r3_201", (2, 3, 17), (2, 0, 1)),
    ("r3_210", (2, 3, 5), (2, 1, 0)),
    ("cwhn_to_whcn", (2, 3, 5, 17), (1, 2, 0, 3)),
    ("whcn_to_cwhn", (2, 17, 3, 5), (2, 0, 1, 3)),
    ("r4_3210", (2, 3, 4, 5), (3, 2, 1, 0)),
    ("r4_1032", (2, 3, 4, 5), (1, 0, 3, 2)),
    ("r4_0132", (2, 3, 4, 5), (0, 1, 3, 2)),
    ("r4_identity", (2, 3, 4, 5), (0, 1, 2, 3)),
    ("r4_moves_ones", (1, 3, 1, 5), (1, 0, 3, 2)),
    ("r5_40312", (2, 3, 2, 1, 5), (4, 0, 3, 1, 2)),
    ("r6_503142", (2, 1, 3, 2, 2, 3), (5, 0, 3, 1, 4, 2)),
]
FEW = ("r2_31x33", "r3_120", "cwhn_to_whcn")

U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
F32, F16 = ("float32", NONE), ("float16", NONE)
PLAIN = [
    ("f16", F16), ("i8", I8), ("i16a", ("int16", per_tensor(0.0005, 300))),
    ("i8d", ("int8", fixed_point(4))), ("i16d", ("int16", fixed_point(8))),
    ("i32", ("int32", NONE)), ("i16", ("int16", NONE)), ("b8", ("bool8", NONE)),
]
MIXED = [
    ("u8_to_u8", U8, ("uint8", per_tensor(0.037, 90))), ("u8_to_f32", U8, F32),
    ("f32_to_u8", F32, ("uint8", per_tensor(0.037, 90))), ("f32_to_f16", F32, F16),
    ("f16_to_f32", F16, F32), ("u8_to_f16", U8, F16),
    ("i16a_to_i8", ("int16", per_tensor(0.0005, 300)), I8),
    ("f16_to_i8", F16, ("int8", per_tensor(0.037, 9))),
]


def main():
    suite = Suite(__file__, onnxruntime)
    for name, shape, perm in PERMS:
        for kind in (F32, U8):
            suite.add(f"{kind[0]}_{name}", lambda rng: case_of(rng, shape, perm, kind))
        if name in FEW:
            for kind_name, kind in PLAIN:
                suite.add(f"{kind_name}_{name}", lambda rng: case_of(rng, shape, perm, kind))
            for kind_name, x, out in MIXED:
                suite.add(f"{kind_name}_{name}", lambda rng: case_of(rng, shape, perm, x, out))
    for axis in range(4):
        def make(rng):
            shape = (3, 2, 5, 4)
            scales = rng.uniform(0.01, 0.1, shape[3 - axis])
            return case_of(rng, shape, (2, 0, 3, 1), ("int8", per_channel(axis, scales)))
        suite.add(f"i8pc_axis{axis}", make)
    suite.write()


if __name__ == "__main__":
    main()
