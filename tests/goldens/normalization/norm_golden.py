"""What the goldens of normalisations share: types, data and the last rounding.

Formulas are NumPy's in float64, each checked against ONNX Runtime; axes count
row-major here, fastest-first in the cases. float32 results lie within 1e-6 of
the largest intermediate: statistics of a few hundred float32 elements and the
steps after them, each rounded. For 16-bit results few elements must do: of many
some always lie near a tie."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from golden_format import (EXACT, NONE, Case, Tensor, close, fixed_point, is_float,
                           per_tensor, random_tensor, store)

F32 = np.float32
ERROR = 1e-6

FLOAT, F16 = ("float32", NONE), ("float16", NONE)
U8, I8 = ("uint8", per_tensor(0.03, 121)), ("int8", per_tensor(0.025, -7))
I16 = ("int16", per_tensor(0.0003, 300))
I8D, I16D = ("int8", fixed_point(5)), ("int16", fixed_point(12))
I32 = ("int32", NONE)


def our_axis(axis, rank, negative=False):
    ours = rank - 1 - axis
    return ours - rank if negative else ours


def has_few(shape, kind):
    """Elements for which there is a seed without one near a tie."""
    limits = {"int16": 60, "float16": 400}
    return np.prod(shape) <= limits.get(kind[0], 1 << 20)


def make_input(rng, kind, shape):
    x = random_tensor(rng, kind[0], shape, kind[1])
    if kind[0] == "float32":
        x.array = (x.array * 2 + F32(0.5)).astype(F32)
    return x


def parameter(rng, dtype, shape, low, high, role="var"):
    """float16 ones are exact in both types."""
    values = rng.uniform(low, high, shape)
    if dtype == "float16":
        values = np.rint(values * 64) / 64
    return Tensor(dtype, values, NONE, role)


def reals(tensor):
    """What a dequantized element is: a float32."""
    return tensor.real().astype(F32).astype(np.float64)


def finish(op, attributes, inputs, real, out_kind, magnitude=None):
    size = np.abs(real) if magnitude is None else magnitude
    largest = float(np.max(size, initial=1))
    if out_kind[0] == "float32":
        out = store(real, *out_kind)
        return Case(op, attributes, inputs, out, close(ERROR * largest))
    scale = 1.0 if is_float(out_kind[0]) else out_kind[1].scale()
    out = store(real, *out_kind, magnitude=size, error=ERROR,
                slack=ERROR / 5 * largest / scale)
    return Case(op, attributes, inputs, out, EXACT)
