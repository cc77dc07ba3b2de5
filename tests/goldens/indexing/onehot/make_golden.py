"""Goldens of OneHot. Oracle: TensorFlow's one_hot (negative indices turn nothing on, as
in TFLite; ONNX wraps them); on and off values quantized by the rule of the
specification in float64."""

import os
import sys

import numpy as np
import tensorflow

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import NONE, Case, Suite, Tensor, fixed_point, per_tensor, store

F32, F16, I32 = ("float32", NONE), ("float16", NONE), ("int32", NONE)
U8, I8 = ("uint8", per_tensor(0.0517, 121)), ("int8", per_tensor(0.0413, -7))
OUTPUTS = [
    ("f32", F32), ("f16", F16), ("i32", I32), ("u8", ("uint8", NONE)), ("i8", ("int8", NONE)),
    ("i16", ("int16", NONE)), ("u8a", U8), ("i8a", I8), ("i16a", ("int16", per_tensor(0.0005, 300))),
    ("i8d", ("int8", fixed_point(4))), ("i16d", ("int16", fixed_point(8))),
]
INDICES = [
    ("i32", I32), ("i8", ("int8", NONE)), ("i64", ("int64", NONE)), ("f32", F32), ("f16", F16),
    ("u8a", ("uint8", per_tensor(0.75, 3))), ("i16d", ("int16", fixed_point(3))),
]


def case_of(rng, shape, depth, axis, indices, out, on=None, off=None):
    """`axis` counts fastest-first in the output."""
    if indices[1].kind == "none":
        values = rng.integers(-2, depth + 2, shape)
        stored = values + 0.25 if indices[0].startswith("float") else values
    else:
        stored = rng.integers(0, 60, shape)
    x = Tensor(indices[0], stored, indices[1])
    truncated = np.trunc(x.real()).astype(np.int64)
    on_value, off_value = 1.0 if on is None else on, 0.0 if off is None else off
    position = len(shape) - max(axis, 0)
    real = tensorflow.one_hot(truncated, depth, np.float64(on_value), np.float64(off_value),
                              axis=position, dtype=tensorflow.float64).numpy()
    attributes = {"depth": depth, "axis": axis}
    if on is not None:
        attributes |= {"on_value": on, "off_value": off}
    return Case("tim.OneHot", attributes, [x], store(real, *out, error=0))


def main():
    suite = Suite(__file__, tensorflow)
    for name, out in OUTPUTS:
        suite.add(f"to_{name}", lambda rng: case_of(rng, (3,), 3, 0, I32, out))
        suite.add(f"to_{name}_on_6", lambda rng: case_of(rng, (2, 5), 4, 1, I32, out, 6.0, -1.0
                                                         if out[0][0] != "u" else 0.0))
    for name, kind in INDICES:
        suite.add(f"from_{name}", lambda rng: case_of(rng, (2, 19), 5, 0, kind, F32))
        suite.add(f"from_{name}_axis1", lambda rng: case_of(rng, (2, 19), 5, 1, kind, F32))
    suite.add("depth_1", lambda rng: case_of(rng, (5,), 1, 0, I32, F32))
    suite.add("axis_minus_1", lambda rng: case_of(rng, (2, 3), 4, -1, I32, F32))
    suite.add("deep", lambda rng: case_of(rng, (3, 2), 700, 0, I32, F32))
    for axis in range(5):
        suite.add(f"r4_axis{axis}", lambda rng: case_of(
            rng, (2, 3, 5, 4), 7, axis, I32, F32, 0.5, -0.25))
    suite.write()


if __name__ == "__main__":
    main()
