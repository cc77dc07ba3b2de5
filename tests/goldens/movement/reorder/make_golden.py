"""Goldens of Reorder, the change of layout that the compiler inserts: dense to
and from channel blocks ([W,H,C,N] to [16,W,H,ceil(C/16),N]). Oracle: NumPy.
Lanes beyond the last channel hold the real value 0."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import NONE, Case, Suite, Tensor, fixed_point, per_tensor, random_tensor

OP = "tim.Reorder"
KINDS = [
    ("f32", ("float32", NONE)), ("f16", ("float16", NONE)),
    ("u8", ("uint8", per_tensor(0.05, 121))), ("i8", ("int8", per_tensor(0.04, -7))),
    ("i16", ("int16", per_tensor(0.0005, 300))), ("i16d", ("int16", fixed_point(8))),
    ("i32", ("int32", NONE)),
]
SHAPES = [(1, 1, 1, 1), (2, 15, 3, 5), (1, 16, 4, 3), (2, 17, 1, 7), (1, 31, 3, 2), (3, 32, 2, 2),
          (1, 33, 5, 1)]


def case_of(rng, shape, kind, source, target):
    x = random_tensor(rng, kind[0], shape, kind[1])
    x.blocked = source
    return Case(OP, {}, [x], Tensor(x.dtype, x.array, x.quant, blocked=target))


def main():
    suite = Suite(__file__)
    blocks = (2, 16)
    for name, kind in KINDS:
        for shape in SHAPES if name in ("f32", "u8", "f16", "i8") else SHAPES[3:5]:
            text = "x".join(str(n) for n in shape)
            suite.add(f"{name}_{text}_to_blocks", lambda rng: case_of(
                rng, shape, kind, None, blocks))
            suite.add(f"{name}_{text}_from_blocks", lambda rng: case_of(
                rng, shape, kind, blocks, None))
    suite.write()


if __name__ == "__main__":
    main()
