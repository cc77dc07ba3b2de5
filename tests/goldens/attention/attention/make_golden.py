"""Goldens of Attention, which the compiler makes of two products with a scale,
a mask and Softmax between them. Oracle: NumPy in float64; ONNX Runtime's
MatMul, Mul, Add and Softmax, one after the other, check it."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import Case, Suite, Tensor, close

F32 = np.float32


def softmax64(x):
    with np.errstate(invalid="ignore"):  # -inf - -inf of a masked row
        e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention64(q, k, v, scale, mask):
    scores = q.astype(np.float64) @ np.swapaxes(k, -1, -2).astype(np.float64) * scale
    if mask is not None:
        scores = scores + mask.astype(np.float64)
    return softmax64(scores) @ v.astype(np.float64)


def attention_onnx(q, k, v, scale, mask):
    scores = oracle.run_onnx("MatMul", [q, np.swapaxes(k, -1, -2).copy()])
    scores = oracle.run_onnx("Mul", [scores, F32(scale)])
    if mask is not None:
        scores = oracle.run_onnx("Add", [scores, mask])
    weights = oracle.run_onnx("Softmax", [scores], axis=-1)
    return oracle.run_onnx("MatMul", [weights, v])


def normal(rng, shape, size=1.0):
    return (rng.standard_normal(shape) * size).astype(F32)


def case(rng, q, k, v, scale=None, mask=None, by_depth=False, size=1.0):
    """`q`, `k`, `v`: shapes (.., length, size); mask(rng): an array."""
    q, k, v = normal(rng, q, size), normal(rng, k), normal(rng, v)
    scale = float(F32(q.shape[-1] ** -0.5 if scale is None else scale))
    mask = None if mask is None else mask(rng)
    real = attention64(q, k, v, scale, mask)
    # An error of a score is a relative one of its weight.
    magnitude = abs(scale) * (np.abs(q).astype(np.float64)
                         @ np.swapaxes(np.abs(k), -1, -2)).max()
    allowed = 1e-6 * (1 + magnitude) * np.abs(v).max()
    if not np.isnan(real).any():
        found = attention_onnx(q, k, v, scale, mask)
        oracle.require_close(found, real, "ORT", allowed)
    stored = np.swapaxes(k, -1, -2).copy() if by_depth else k
    inputs = [Tensor("float32", x) for x in (q, stored, v)]
    if mask is not None:
        inputs.append(Tensor("float32", mask))
    attributes = {"scale": scale, "keys_by_depth": by_depth}
    return Case("tim.Attention", attributes, inputs,
                Tensor("float32", real.astype(F32)), close(allowed))


# name, queries, keys, values.  Kernels are compiled for each number of queries,
# which are 1 or 9 where another number says nothing new.
SHAPES = [
    ("one_of_each", (1, 1), (1, 1), (1, 1)),
    ("one_query", (3, 1, 16), (3, 70, 16), (3, 70, 16)),
    ("one_key", (2, 9, 3), (2, 1, 3), (2, 1, 5)),
    ("matrices", (9, 8), (7, 8), (7, 8)),
    ("shared_keys", (2, 3, 9, 8), (1, 6, 8), (6, 4)),
    ("shared_queries", (9, 9), (2, 3, 11, 9), (2, 1, 11, 6)),
    ("more_heads_of_values", (2, 9, 8), (2, 9, 8), (3, 2, 9, 8)),
    ("whole_tiles", (2, 24, 32), (2, 64, 32), (2, 64, 32)),
    ("no_whole_tiles", (1, 2, 13, 31), (1, 2, 65, 31), (1, 2, 65, 33)),
    ("wide_heads", (1, 14, 128), (1, 20, 128), (1, 20, 100)),
]
BY_DEPTH = ("one_query", "one_key", "matrices", "shared_keys", "no_whole_tiles")


def causal(rng):
    return np.triu(np.full((9, 12), -np.inf, F32), 1)


def masked_row(rng):
    mask = normal(rng, (9, 12))
    mask[4] = -np.inf
    mask[6, :11] = -np.inf
    return mask


# name, mask; scores are (2, 3, 9, 12)
MASKS = [
    ("of_keys", lambda rng: normal(rng, (12,))),
    ("of_queries", lambda rng: normal(rng, (9, 1))),
    ("of_both", lambda rng: normal(rng, (9, 12))),
    ("of_batches", lambda rng: normal(rng, (2, 1, 1, 12), 3)),
    ("of_heads", lambda rng: normal(rng, (3, 9, 12))),
    ("of_all", lambda rng: normal(rng, (2, 3, 9, 12))),
    ("of_one_number", lambda rng: normal(rng, (1,))),
    ("causal", causal),
    ("whole_row", masked_row),
    ("filtered", lambda rng: np.where(rng.random((2, 1, 1, 12)) < 0.5, 0, -1e4).astype(F32)),
]


def late_keys(rng):
    """The first keys, more than a kernel may take at a time, do not count."""
    mask = np.zeros((150,), F32)
    mask[:130] = -np.inf
    return mask


def main():
    suite = Suite(__file__, onnxruntime)
    for name, q, k, v in SHAPES:
        suite.add(f"f32_{name}", lambda rng: case(rng, q, k, v))
        if name in BY_DEPTH:
            suite.add(f"f32_{name}_by_depth",
                      lambda rng: case(rng, q, k, v, by_depth=True))
    q, k, v = (2, 3, 9, 10), (2, 3, 12, 10), (2, 3, 12, 7)
    for name, mask in MASKS:
        suite.add(f"f32_mask_{name}", lambda rng: case(rng, q, k, v, mask=mask))
    suite.add("f32_late_keys", lambda rng: case(
        rng, (2, 9, 8), (2, 150, 8), (2, 150, 8), mask=late_keys))
    for scale in (1.0, 0.0, -0.5):
        text = str(scale).replace(".", "_").replace("-", "minus_")
        suite.add(f"f32_scale_{text}", lambda rng: case(rng, q, k, v, scale))
    suite.add("f32_large_scores", lambda rng: case(
        rng, (3, 9, 16), (3, 100, 16), (3, 100, 16), size=100))
    suite.write()


if __name__ == "__main__":
    main()
