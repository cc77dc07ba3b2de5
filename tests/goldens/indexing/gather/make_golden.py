"""Goldens of Gather, GatherNd and EmbeddingLookup. Oracles: ONNX Runtime's Gather and
GatherND, TensorFlow's gather for batches; NumPy's take with mode "clip" for indices
that are outside; requantized data by the rule of the specification in float64."""

import os
import sys

import numpy as np
import onnxruntime
import tensorflow

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import NONE, Case, Suite, Tensor, fixed_point, per_tensor, random_tensor, store

F32, F16, I32 = ("float32", NONE), ("float16", NONE), ("int32", NONE)
U8, I8 = ("uint8", per_tensor(0.0517, 121)), ("int8", per_tensor(0.0413, -7))
U8B = ("uint8", per_tensor(0.037, 90))
I16, I16D = ("int16", per_tensor(0.0005, 300)), ("int16", fixed_point(8))
I8D, I8P = ("int8", fixed_point(4)), ("int8", NONE)
KINDS = [
    ("f32", F32, F32), ("f16", F16, F16), ("i32", I32, I32), ("i8", I8P, I8P), ("u8", U8, U8),
    ("i8a", I8, I8), ("i16", I16, I16), ("i8d", I8D, I8D), ("i16d", I16D, I16D),
    ("i64", ("int64", NONE), ("int64", NONE)), ("b8", ("bool8", NONE), ("bool8", NONE)),
    ("u8_to_f32", U8, F32), ("u8_to_f16", U8, F16), ("u8_to_i8d", U8, I8D),
    ("f16_to_u8", F16, U8), ("f32_to_u8", F32, U8), ("u8_to_u8", U8, U8B),
]


def moved(x, out):
    same = (x.dtype, x.quant.text()) == (out[0], out[1].text())
    return x if same else store(x.real(), *out)


def for_onnx(array):
    return array.astype(np.float32) if array.dtype == np.float16 else array


def gather(rng, shape, indices_shape, axis, batch, kind, out, outside=False, dtype="int32"):
    """`axis` counts row-major, after the batch; the batch dimensions come first."""
    x = random_tensor(rng, kind[0], shape, kind[1])
    extent = shape[axis]
    low, high = (-2 * extent, 2 * extent) if outside else (-extent, extent)
    low = 0 if dtype.startswith("u") else low
    indices = rng.integers(low, high, shape[:batch] + indices_shape)
    inside = np.clip(np.where(indices < 0, indices + extent, indices), 0, extent - 1)
    source = moved(x, out)
    array = source.array
    if batch == 0:
        expected = np.take(array, inside, axis)
        found = oracle.run_onnx("Gather", [for_onnx(array), inside.astype(np.int64)], axis=axis)
    else:
        expected = tensorflow.gather(array, inside, axis=axis, batch_dims=batch).numpy()
        found = np.stack([np.take(a, i, axis - batch) for a, i in zip(
            array.reshape((-1,) + shape[batch:]), inside.reshape((-1,) + indices_shape))])
        found = found.reshape(expected.shape)
    oracle.require_equal(found.astype(expected.dtype), expected, "Gather")
    rank = len(shape)
    stored = indices.astype(np.float64) + 0.25 * np.sign(indices) if dtype == "float32" else indices
    return Case("tim.Gather", {"axis": rank - 1 - axis, "batch_dims": batch},
                [x, Tensor(dtype, stored)], Tensor(source.dtype, expected, source.quant))


def gather_nd(rng, shape, length, coordinates, kind, out, as_list=False):
    x = random_tensor(rng, kind[0], shape, kind[1])
    indices = np.stack([rng.integers(-n, n, coordinates) for n in shape[:length]], -1)
    source = moved(x, out)
    expected = oracle.run_onnx("GatherND", [for_onnx(source.array), indices.astype(np.int64)])
    expected = expected.astype(source.array.dtype)
    # Coordinates count the other way round: element 0 along the fastest of the axes.
    stored = indices[..., 0] if as_list else indices[..., ::-1]
    return Case("tim.GatherNd", {}, [x, Tensor("int32", stored)],
                Tensor(source.dtype, expected, source.quant))


def embedding(rng, table_shape, count, kind, out, outside=False):
    table = random_tensor(rng, kind[0], table_shape, kind[1])
    rows = table_shape[0]
    indices = rng.integers(-rows if outside else 0, 2 * rows if outside else rows, count)
    source = moved(table, out)
    expected = np.take(source.array, indices, 0, mode="clip")
    if not outside:
        found = oracle.run_onnx("Gather", [for_onnx(source.array), indices], axis=0)
        oracle.require_equal(found.astype(expected.dtype), expected, "ORT Gather")
    return Case("tim.EmbeddingLookup", {}, [Tensor("int32", indices), table],
                Tensor(source.dtype, expected, source.quant))


# name, data (row-major), own dimensions of the indices, axis, batch dimensions
GATHERS = [
    ("r1", (33,), (5,), 0, 0), ("rows", (7, 33), (4,), 0, 0), ("columns", (5, 17), (3,), 1, 0),
    ("middle", (2, 5, 33), (2, 3), 1, 0), ("batch1", (2, 3, 5), (4,), 1, 1),
    ("batch1_last", (3, 2, 7), (2, 2), 2, 1), ("batch2", (2, 3, 4, 17), (3,), 2, 2),
    ("r5", (2, 1, 3, 4, 2), (3,), 2, 0), ("long_rows", (3, 1100), (5,), 0, 0),
]
NDS = [
    ("r1", (9,), 1, (4,)), ("all", (3, 4, 2), 3, (5,)), ("rows", (3, 4, 33), 2, (2, 3)),
    ("slices", (4, 3, 5), 1, (6,)), ("r5", (2, 3, 2, 3, 2), 4, (7,)),
]


def main():
    suite = Suite(__file__, onnxruntime, tensorflow)
    for name, shape, indices, axis, batch in GATHERS:
        for kind_name, kind, out in KINDS if name in ("middle", "batch1") else KINDS[:1]:
            suite.add(f"gather_{kind_name}_{name}", lambda rng: gather(
                rng, shape, indices, axis, batch, kind, out))
    for dtype in ("int8", "uint8", "int16", "uint16", "uint32", "int64", "float32"):
        suite.add(f"gather_by_{dtype}", lambda rng: gather(
            rng, (3, 5, 4), (6,), 1, 0, F32, F32, dtype=dtype))
    suite.add("gather_outside", lambda rng: gather(
        rng, (3, 5, 4), (20,), 1, 0, F32, F32, outside=True))
    for name, shape, length, coordinates in NDS:
        for kind_name, kind, out in KINDS if name == "rows" else KINDS[:1]:
            suite.add(f"nd_{kind_name}_{name}", lambda rng: gather_nd(
                rng, shape, length, coordinates, kind, out))
    suite.add("nd_list", lambda rng: gather_nd(rng, (5, 3), 1, (4,), F32, F32, as_list=True))
    for name, shape, count in (("r1", (9,), 4), ("r2", (5, 33), 7), ("r4", (3, 2, 2, 5), 4)):
        for kind_name, kind, out in KINDS if name == "r2" else KINDS[:1]:
            suite.add(f"embedding_{kind_name}_{name}", lambda rng: embedding(
                rng, shape, count, kind, out))
    suite.add("embedding_outside", lambda rng: embedding(
        rng, (5, 4), 20, F32, F32, outside=True))
    suite.write()


if __name__ == "__main__":
    main()
