"""Goldens of ScatterND and ScatterND_ONNX_V16. Oracles: ONNX Runtime's ScatterND and
TensorFlow's scatter_nd on values whose sums and products are exact; a loop in float32,
update by update, for those that are not; requantized results by the rule of the
specification in float64. Exact, but 1e-6 of the largest result where float32 results
come from codes."""

import os
import sys

import numpy as np
import onnxruntime
import tensorflow

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, Case, Suite, Tensor, close, fit, fixed_point, is_float,
                           per_tensor, random_tensor, small_integers, store)

REDUCTIONS = ["none", "add", "mul", "max", "min"]
F32, F16, I32 = ("float32", NONE), ("float16", NONE), ("int32", NONE)
U8, I8 = ("uint8", per_tensor(0.0517, 121)), ("int8", per_tensor(0.0413, -7))
I16 = ("int16", per_tensor(0.0005, 300))
KINDS = [
    ("f32", F32, F32), ("f16", F16, F16), ("i32", I32, I32), ("u8", U8, U8), ("i8", I8, I8),
    ("i8d", ("int8", fixed_point(4)), ("int8", fixed_point(4))), ("i16", I16, I16),
    ("i16d", ("int16", fixed_point(8)), ("int16", fixed_point(8))),
    ("f32_to_u8", F32, U8), ("u8_to_f32", U8, F32),
]


def combine(old, update, reduction):
    return {"none": lambda: update, "add": lambda: old + update, "mul": lambda: old * update,
            "max": lambda: np.maximum(old, update), "min": lambda: np.minimum(old, update)}[reduction]()


def apply(start, indices, updates, reduction):
    """In the order of the updates; rows of `indices` that are outside do nothing. Returns
    the largest intermediate too."""
    out, most = start.copy(), np.abs(start).astype(np.float64)
    length = indices.shape[-1]
    flat = updates.reshape((-1,) + start.shape[length:])
    for index, update in zip(indices.reshape(-1, length), flat):
        if np.any(index < 0) or np.any(index >= start.shape[:length]):
            continue
        at = tuple(index)
        out[at] = combine(out[at], update, reduction)
        most[at] = np.maximum(most[at], np.abs(out[at]).astype(np.float64))
    return out, most


def touched(shape, indices):
    ones = np.ones(indices.shape[:-1] + shape[indices.shape[-1]:])
    return apply(np.zeros(shape), indices, ones, "max")[0] > 0


def scatter(rng, shape, length, coordinates, kind, out, reduction, onnx, outside=False,
            exact_floats=True, wide=None, as_list=False, dtype="int32"):
    """`shape` row-major. Without `onnx` a ScatterND, else a ScatterND_ONNX_V16."""
    make = small_integers if exact_floats and kind[0] == "float32" else None
    values = coordinates + shape[length:]
    updates = make(rng, values, 4) if make else random_tensor(rng, kind[0], values, kind[1])
    wrap = outside and onnx
    indices = np.stack([rng.integers(-2 * n if outside else -n if wrap else 0,
                                     2 * n if outside else n, coordinates)
                        for n in shape[:length]], -1)
    if reduction == "none":  # each place once: ONNX does not say more
        places = rng.permutation(int(np.prod(shape[:length])))[:int(np.prod(coordinates))]
        indices = np.stack(np.unravel_index(places, shape[:length]), -1)
        indices = indices.reshape(coordinates + (length,))
    inside = np.where(indices < 0, indices + np.array(shape[:length]), indices) if onnx else indices
    data_kind = wide or out
    if not onnx:
        data = None
        start = np.zeros(shape)
    else:
        same = exact_floats and data_kind[0] == "float32"
        data = small_integers(rng, shape, 4) if same else random_tensor(
            rng, data_kind[0], shape, data_kind[1])
        start = data.real()
    result, expected = finish(start, inside, updates, out, reduction, data, shape,
                              exact_floats or kind[0] != "float32")
    stored = indices[..., 0] if as_list else indices
    operands = [Tensor(dtype, stored), updates]
    attributes = {"reduction": REDUCTIONS.index(reduction)} if onnx else {
        "shape": list(reversed(shape))}
    if kind == out == F32 and exact_floats and not outside:
        check(start, inside, updates.array, reduction, onnx, result)
    # Sums and products of real values of codes are rounded after each update.
    codes = out == F32 and (kind != F32 or data_kind != F32)
    tolerance = close(1e-6 * np.max(np.abs(result))) if codes else EXACT
    return Case("tim.ScatterND_ONNX_V16" if onnx else "tim.ScatterND", attributes,
                ([data] if onnx else []) + operands, expected, tolerance)


def check(start, inside, updates, reduction, onnx, result):
    if onnx:
        found = oracle.run_onnx("ScatterND", [start.astype(np.float32), inside.astype(np.int64),
                                              updates], reduction=reduction)
    else:
        found = tensorflow.scatter_nd(inside, updates, start.shape).numpy()
    oracle.require_equal(found, result, "ScatterND")


def finish(start, inside, updates, out, reduction, data, shape, exact):
    """The result in real values, and the tensor that it is stored as."""
    if not exact:
        result = apply(start.astype(np.float32), inside, updates.array, reduction)[0]
        return result, Tensor("float32", result)
    result, most = apply(start, inside, updates.real(), reduction)
    if out[1].kind == "none" and not is_float(out[0]):
        return result, Tensor(out[0], fit(result.astype(np.int64), out[0]))
    stored = store(result, *out, magnitude=most)
    same = data is not None and (data.dtype, data.quant.text()) == (out[0], out[1].text())
    if same:  # What no update reaches stays.
        stored.array = np.where(touched(shape, inside), stored.array, data.array)
    return result, stored


# name, output (row-major), indices per coordinate, coordinates
PLACES = [
    ("r1", (8,), 1, (4,)), ("r2_rows", (5, 33), 1, (4,)), ("r2_elements", (5, 7), 2, (12,)),
    ("r3_block", (4, 4, 4), 1, (2,)), ("r3", (3, 4, 17), 2, (2, 3)), ("r4", (2, 3, 2, 5), 3, (7,)),
    ("all_four", (3, 2, 2, 3), 4, (9,)),
]


def main():
    suite = Suite(__file__, onnxruntime, tensorflow)
    for name, shape, length, coordinates in PLACES:
        for kind_name, kind, out in KINDS if name in ("r2_rows", "r2_elements") else KINDS[:1]:
            suite.add(f"{kind_name}_{name}", lambda rng: scatter(
                rng, shape, length, coordinates, kind, out, "add", onnx=False))
            for reduction in REDUCTIONS:
                suite.add(f"onnx_{reduction}_{kind_name}_{name}", lambda rng: scatter(
                    rng, shape, length, coordinates, kind, out, reduction, onnx=True))
    for reduction in REDUCTIONS[1:]:
        suite.add(f"onnx_{reduction}_outside", lambda rng: scatter(
            rng, (5, 7), 2, (40,), F32, F32, reduction, onnx=True, outside=True))
        suite.add(f"onnx_{reduction}_in_order", lambda rng: scatter(
            rng, (3, 19), 1, (40,), F32, F32, reduction, onnx=True, exact_floats=False))
        suite.add(f"onnx_{reduction}_other_data", lambda rng: scatter(
            rng, (3, 19), 1, (4,), U8, F32, reduction, onnx=True, wide=I8))
    suite.add("onnx_none_other_data", lambda rng: scatter(
        rng, (6, 19), 1, (4,), U8, F32, "none", onnx=True, wide=I8))
    suite.add("outside", lambda rng: scatter(
        rng, (5, 7), 2, (40,), F32, F32, "add", onnx=False, outside=True))
    suite.add("in_order", lambda rng: scatter(
        rng, (3, 19), 1, (60,), F32, F32, "add", onnx=False, exact_floats=False))
    suite.add("in_order_elements", lambda rng: scatter(
        rng, (7,), 1, (300,), F32, F32, "add", onnx=False, exact_floats=False))
    suite.add("list", lambda rng: scatter(
        rng, (5, 3), 1, (9,), F32, F32, "add", onnx=False, as_list=True))
    for dtype in ("uint8", "int64"):
        suite.add(f"by_{dtype}", lambda rng: scatter(
            rng, (5, 3), 1, (9,), F32, F32, "add", onnx=False, dtype=dtype))
    suite.write()


if __name__ == "__main__":
    main()
