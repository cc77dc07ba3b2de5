"""What goldens of operators with broadcast inputs share: kinds and shapes."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from golden_format import (NONE, Tensor, fixed_point, is_float, per_tensor,
                           random_tensor)

F32, F16, B8 = ("float32", NONE), ("float16", NONE), ("bool8", NONE)
I8, I16, I32, I64 = (("int8", NONE), ("int16", NONE), ("int32", NONE), ("int64", NONE))
U8A, I8A = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
I16A = ("int16", per_tensor(0.0005, 300))
I8D, I16D = ("int8", fixed_point(4)), ("int16", fixed_point(8))
U4A, I4A = ("uint4", per_tensor(0.5, 6)), ("int4", per_tensor(0.5, 1))

# row-major
SHAPES = [
    ("r1", [(33,), (33,), (33,)]),
    ("r4", [(2, 3, 4, 5), (2, 3, 4, 5), (2, 3, 4, 5)]),
    ("r3_both_ways", [(3, 1, 5), (1, 4, 5), (3, 4, 1)]),
    ("r2_first_is_one", [(1,), (5, 7), (7,)]),
    ("r4_channel_32", [(1, 32, 3, 5), (1, 32, 1, 1), (32, 1, 1)]),
    ("r5", [(2, 1, 3, 1, 5), (2, 3, 2, 1), (5,)]),
]


def draw(rng, kind, shape):
    return random_tensor(rng, kind[0], shape, kind[1])


def values(tensor):
    """The real values as float32 has them, in float64."""
    real = tensor.real()
    return real if is_float(tensor.dtype) else real.astype(np.float32).astype(np.float64)


def name_of(kind):
    dtype, quant = kind
    short = {"float": "f", "uint": "u", "int": "i", "bool": "b"}
    for long, letter in short.items():
        if dtype.startswith(long):
            name = letter + dtype[len(long):]
            break
    return name + {"none": "", "tensor": "a", "fixed": "d"}[quant.kind]


def title(kinds, out):
    return "_".join(name_of(k) for k in kinds) + "_to_" + name_of(out)
