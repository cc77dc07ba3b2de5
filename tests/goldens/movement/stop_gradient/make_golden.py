"""Goldens of StopGradient: the input. Oracle: NumPy."""

import os
import sys


sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import NONE, Case, Suite, fixed_point, per_tensor, random_tensor

KINDS = [
    ("f32", "float32", NONE), ("f16", "float16", NONE), ("i32", "int32", NONE),
    ("i64", "int64", NONE), ("b8", "bool8", NONE), ("u8a", "uint8", per_tensor(0.05, 121)),
    ("i8a", "int8", per_tensor(0.04, -7)), ("i16d", "int16", fixed_point(8)),
    ("u4a", "uint4", per_tensor(0.3, 7)),
]


def main():
    suite = Suite(__file__)
    for name, dtype, quant in KINDS:
        for shape in [(33,), (2, 3, 5)]:
            def make(rng, dtype=dtype, quant=quant, shape=shape):
                x = random_tensor(rng, dtype, shape, quant)
                return Case("tim.StopGradient", {}, [x], [type(x)(dtype, x.array, quant)])

            suite.add(f"{name}_r{len(shape)}", make)
    suite.write()


if __name__ == "__main__":
    main()
