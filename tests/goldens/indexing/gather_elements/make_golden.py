"""Goldens of GatherElements. Oracles: ONNX Runtime's GatherElements; NumPy for indices
that are outside and for indices of smaller extents than the data below the axis;
requantized data by the rule of the specification in float64."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import NONE, Case, Suite, Tensor, fixed_point, per_tensor, random_tensor, store

F32, F16, I32 = ("float32", NONE), ("float16", NONE), ("int32", NONE)
U8, I8 = ("uint8", per_tensor(0.0517, 121)), ("int8", per_tensor(0.0413, -7))
KINDS = [
    ("f32", F32, F32), ("f16", F16, F16), ("i32", I32, I32), ("u8", U8, U8), ("i8", I8, I8),
    ("i16", ("int16", per_tensor(0.0005, 300)), ("int16", per_tensor(0.0005, 300))),
    ("i8d", ("int8", fixed_point(4)), ("int8", fixed_point(4))),
    ("i16d", ("int16", fixed_point(8)), ("int16", fixed_point(8))),
    ("u8_to_f32", U8, F32), ("f32_to_u8", F32, U8), ("u8_to_i8", U8, I8),
]


def flat(array, inside, axis):
    """The data as [outer, extent, inner], the indices as [outer, n, inner]."""
    def view(a):
        outer = int(np.prod(a.shape[:axis]))
        return a.reshape(outer, a.shape[axis], -1)
    data, index = view(array), view(inside)
    out = np.empty(index.shape, array.dtype)
    for o, n, i in np.ndindex(index.shape):
        out[o, n, i] = data[o, index[o, n, i], i]
    return out.reshape(inside.shape)


def case_of(rng, shape, indices_shape, axis, kind, out, outside=False):
    x = random_tensor(rng, kind[0], shape, kind[1])
    extent = shape[axis]
    reach = 2 * extent if outside else extent
    indices = rng.integers(-reach, reach, indices_shape)
    inside = np.clip(np.where(indices < 0, indices + extent, indices), 0, extent - 1)
    same = (x.dtype, x.quant.text()) == (out[0], out[1].text())
    source = x if same else store(x.real(), *out)
    expected = flat(source.array, inside, axis)
    # ONNX and the flat view agree where only the axis and the outermost extent differ.
    if indices_shape[1:axis] == shape[1:axis] and indices_shape[axis + 1:] == shape[axis + 1:]:
        wide = source.array.astype(np.float32 if source.array.dtype == np.float16
                                   else source.array.dtype)
        found = oracle.run_onnx("GatherElements", [wide, inside.astype(np.int64)], axis=axis)
        oracle.require_equal(found.astype(expected.dtype), expected, "ORT GatherElements")
    return Case("tim.GatherElements", {"axis": len(shape) - 1 - axis},
                [x, Tensor("int32", indices)], Tensor(source.dtype, expected, source.quant))


# name, data, indices (row-major), axis (row-major)
SHAPES = [
    ("r1", (9,), (17,), 0), ("r2_rows", (5, 7), (3, 7), 0), ("r2_columns", (5, 7), (5, 20), 1),
    ("r3", (2, 5, 33), (2, 4, 33), 1), ("fewer_outer", (4, 3, 5), (2, 6, 5), 1),
    ("r5", (2, 3, 2, 4, 3), (2, 3, 5, 4, 3), 2), ("flat_below", (2, 3, 4), (2, 3, 3), 0),
    ("flat_above", (2, 3, 4), (2, 2, 6), 2), ("flat_both", (3, 4, 5), (2, 7, 3), 1),
]


def main():
    suite = Suite(__file__, onnxruntime)
    for name, shape, indices, axis in SHAPES:
        for kind_name, kind, out in KINDS if name == "r3" else KINDS[:1]:
            suite.add(f"{kind_name}_{name}", lambda rng: case_of(
                rng, shape, indices, axis, kind, out))
    suite.add("outside", lambda rng: case_of(rng, (3, 5), (3, 40), 1, F32, F32, outside=True))
    suite.write()


if __name__ == "__main__":
    main()
