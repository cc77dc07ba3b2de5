"""Goldens of MaxUnpool2d. Oracle: the definition in NumPy; ONNX Runtime's
MaxUnpool, given the places in the whole output, where windows do not meet."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, Case, Suite, Tensor, fixed_point, per_tensor,
                           random_tensor, store)


def unpool(values, indices, ksize, stride, extents, fill):
    """Also the flat places, -1 of what is dropped."""
    out = np.full(values.shape[:-2] + extents[::-1], fill, values.dtype)
    places = np.full(values.shape, -1, np.int64)
    for at in np.ndindex(*values.shape):
        index = int(indices[at])
        if not 0 <= index < ksize[0] * ksize[1]:
            continue
        y = at[-2] * stride[1] + index // ksize[0]
        x = at[-1] * stride[0] + index % ksize[0]
        if y < extents[1] and x < extents[0]:
            out[at[:-2] + (y, x)] = values[at]
            places[at] = np.ravel_multi_index(at[:-2] + (y, x), out.shape)
    return out, places


def check(values, places, ksize, stride, expected):
    kept = places[places >= 0]
    if (places < 0).any() or len(np.unique(kept)) != kept.size or values.ndim != 4:
        return
    found = oracle.run_onnx(
        "MaxUnpool", [values, places, np.array(expected.shape, np.int64)],
        kernel_shape=list(ksize[::-1]), strides=list(stride[::-1]))
    oracle.require_equal(found, expected, "ORT MaxUnpool")


def case_of(rng, shape, ksize, stride, dtype, quant=NONE, out=None, extents=None,
            index="uint8", beyond=0):
    x = random_tensor(rng, dtype, shape, quant)
    cells = ksize[0] * ksize[1]
    low = -beyond if index != "uint8" else 0
    indices = Tensor(index, rng.integers(low, cells + beyond, shape))
    sizes = extents or tuple((shape[-1 - i] - 1) * stride[i] + ksize[i] for i in (0, 1))
    out_type, out_quant = out or (dtype, quant)
    if (out_type, out_quant.text()) == (dtype, quant.text()):
        array, places = unpool(x.array, indices.array, ksize, stride, sizes, quant.zero())
        y = Tensor(dtype, array, quant)
        if dtype == "float32":
            check(x.array, places, ksize, stride, array)
    else:
        real, _ = unpool(x.real(), indices.array, ksize, stride, sizes, 0)
        y = store(real, out_type, out_quant)
    if extents:
        y = y.declared()
    return Case("tim.MaxUnpool2d", {"ksize": list(ksize), "stride": list(stride)},
                [x, indices], y, EXACT)


# shape slowest first, ksize and stride {W, H}
IMAGES = [
    ("2x2_s2", (1, 3, 3, 4), (2, 2), (2, 2)),
    ("3x2_s3_2", (2, 3, 3, 4), (3, 2), (3, 2)),
    ("3x3_s2_overlap", (1, 2, 4, 5), (3, 3), (2, 2)),
    ("2x3_s4_gaps", (1, 2, 3, 3), (2, 3), (4, 4)),
    ("rank_3", (3, 3, 4), (2, 2), (2, 2)),
    ("1x1", (1, 1, 1, 1), (1, 1), (1, 1)),
    ("channels_33", (1, 33, 3, 3), (2, 2), (2, 2)),
]
U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
I16 = ("int16", per_tensor(0.0005, 300))
I8D, I16D = ("int8", fixed_point(4)), ("int16", fixed_point(8))
F16, F32, I32 = ("float16", NONE), ("float32", NONE), ("int32", NONE)
TYPED = [
    ("f16", F16, F16), ("u8", U8, U8), ("i8", I8, I8), ("i16", I16, I16), ("i8d", I8D, I8D),
    ("i16d", I16D, I16D), ("i32", I32, I32),
    ("u8_requantized", U8, ("uint8", per_tensor(0.037, 90))),
    ("i8_requantized", I8, ("int8", per_tensor(0.047, 4))),
    ("u8_to_f16", U8, F16), ("f32_to_u8", F32, U8), ("f16_to_f32", F16, F32),
]


def main():
    suite = Suite(__file__, onnxruntime)
    for name, shape, ksize, stride in IMAGES:
        suite.add(f"f32_{name}", lambda rng: case_of(rng, shape, ksize, stride, *F32))
    for type_name, x, out in TYPED:
        for name, shape, ksize, stride in IMAGES[:4]:
            suite.add(f"{type_name}_{name}",
                      lambda rng: case_of(rng, shape, ksize, stride, *x, out))
    for type_name, x in (("f32", F32), ("u8", U8)):
        suite.add(f"{type_name}_declared_smaller", lambda rng: case_of(
            rng, (1, 2, 2), (2, 2), (2, 2), *x, extents=(3, 3)))
        suite.add(f"{type_name}_declared_larger", lambda rng: case_of(
            rng, (1, 2, 2, 3), (2, 2), (2, 2), *x, extents=(8, 5)))
        for index in ("uint8", "int16", "int32"):
            suite.add(f"{type_name}_{index}_indices_outside_of_the_window", lambda rng: case_of(
                rng, (1, 2, 3, 4), (2, 2), (2, 2), *x, index=index, beyond=3))
    suite.write()


if __name__ == "__main__":
    main()
