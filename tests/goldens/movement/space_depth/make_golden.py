"""Goldens of SpaceToDepth, DepthToSpace, Space2Batch, Batch2Space and Reorg.
Oracles: ONNX Runtime's SpaceToDepth (with one block extent) and DepthToSpace,
TensorFlow's space_to_batch_nd and batch_to_space (its 4-D kernels are TFLite's),
NumPy; Reorg: Darknet's loops over flat memory."""

import os
import sys

import numpy as np
import onnxruntime
import tensorflow

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from moved import Moves, agree, onnx, widened

# name, input [N, C, H, W], block [bx, by]
TO_DEPTH = [
    ("small", (1, 1, 2, 4), (2, 2)),
    ("odd", (1, 3, 4, 33), (3, 2)),
    ("wide_block", (1, 5, 3, 34), (17, 1)),
    ("once", (2, 3, 4, 5), (1, 1)),
    ("square", (2, 3, 4, 32), (2, 2)),
]
# name, input [N, C, H, W], block
TO_SPACE = [
    ("small", (1, 4, 1, 2), 2),
    ("odd", (1, 27, 3, 7), 3),
    ("wide", (1, 12, 3, 33), 2),
    ("once", (2, 3, 4, 5), 1),
]
# name, input [N, C, (H,) W], block, pad (fastest-first)
TO_BATCH = [
    ("small", (1, 3, 2, 2), (2, 2), (0, 0, 0, 0)),
    ("padded", (2, 1, 5, 17), (2, 3), (1, 2, 0, 4)),
    ("left", (1, 2, 4, 33), (3, 2), (3, 0, 2, 0)),
    ("more_than_a_block", (2, 1, 3, 2), (2, 2), (5, 3, 4, 5)),
    ("r3", (2, 3, 15), (4,), (2, 3)),
    ("r3_long_vectors", (2, 3, 15), (4, 9), (2, 3, 7, 7)),
]
# name, input [N, C, (H,) W], block, crop (fastest-first)
TO_PLACE = [
    ("small", (4, 3, 1, 1), (2, 2), (0, 0, 0, 0)),
    ("cropped", (12, 1, 3, 10), (2, 3), (1, 2, 0, 4)),
    ("left", (6, 2, 3, 12), (3, 2), (3, 0, 2, 0)),
    ("more_than_a_block", (8, 1, 6, 5), (2, 2), (5, 3, 4, 5)),
    ("r3", (8, 3, 5), (4,), (2, 3, 0, 0)),
]
# name, input [N, C, H, W], stride
REORGS = [
    ("yolo", (1, 4, 4, 4), 2),
    ("two", (2, 8, 6, 4), 2),
    ("three", (1, 18, 3, 33), 3),
    ("once", (2, 3, 2, 5), 1),
    ("remainder", (2, 11, 4, 6), 2),
    ("remainder_of_one_plane", (1, 7, 2, 2), 2),
]
FEW = ("odd", "padded", "cropped", "two")


def to_depth(array, block):
    (bx, by), (n, c, h, w) = block, array.shape
    out = array.reshape(n, c, h // by, by, w // bx, bx).transpose(0, 3, 5, 1, 2, 4)
    out = out.reshape(n, c * bx * by, h // by, w // bx)
    if bx == by and array.dtype == np.float32:  # ORT has float alone
        agree(out, onnx("SpaceToDepth", array, blocksize=bx), "ORT SpaceToDepth")
    return out


def to_space(array, block, crd):
    n, c, h, w = array.shape
    co = c // block**2
    if crd:
        out = array.reshape(n, co, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        out = array.reshape(n, block, block, co, h, w).transpose(0, 3, 4, 1, 5, 2)
    out = out.reshape(n, co, h * block, w * block)
    if array.dtype == np.float32:
        found = onnx("DepthToSpace", array, blocksize=block, mode="CRD" if crd else "DCR")
        agree(out, found, "ORT DepthToSpace")
    return out


def pairs(counts, axes):
    """[[before, after]] of the axes, slowest first."""
    return [[counts[2 * i], counts[2 * i + 1]] for i in range(axes)][::-1]


def to_batch(array, zero, block, pad):
    axes = array.ndim - 2
    last = np.moveaxis(widened(array).astype(np.float64) - zero, 1, -1)  # [N, H, W, C]
    out = tensorflow.space_to_batch_nd(last, list(block[:axes])[::-1], pairs(pad, axes)).numpy()
    return (np.moveaxis(out, -1, 1) + zero).astype(array.dtype)


def to_place(array, block, crop):
    axes = array.ndim - 2
    last = np.moveaxis(widened(array), 1, -1)
    out = tensorflow.batch_to_space(last, list(block[:axes])[::-1], pairs(crop, axes)).numpy()
    return np.moveaxis(out, -1, 1).astype(array.dtype)


def reorg(array, s):
    n, c, h, w = array.shape
    planes = c // s**2
    out = np.empty((n, c * h * w), array.dtype)
    for b in range(n):
        flat = array[b].reshape(-1)
        for k in range(c):
            off, plane = divmod(k, planes)
            for j in range(h):
                for i in range(w):
                    row = j * s + off // s + h * s * plane
                    out[b, i + w * (j + h * k)] = flat[i * s + off % s + w * s * row]
    return out.reshape(n, c * s * s, h // s, w // s)


def main():
    moves = Moves(__file__, onnxruntime, tensorflow)
    for name, shape, block in TO_DEPTH:
        moves.add(f"to_depth_{name}", "tim.SpaceToDepth", {"block_size": list(block)}, shape,
                  lambda array, zero: to_depth(array, block), name in FEW)
    for name, shape, block in TO_SPACE:
        for mode in (0, 1):
            moves.add(f"to_space_{name}_{'crd' if mode else 'dcr'}", "tim.DepthToSpace",
                      {"block_size": block, "mode": mode}, shape,
                      lambda array, zero: to_space(array, block, mode), name in FEW)
    for name, shape, block, pad in TO_BATCH:
        moves.add(f"space2batch_{name}", "tim.Space2Batch",
                  {"block_size": list(block), "pad": list(pad)}, shape,
                  lambda array, zero: to_batch(array, zero, block, pad), name in FEW)
    for name, shape, block, crop in TO_PLACE:
        moves.add(f"batch2space_{name}", "tim.Batch2Space",
                  {"block_size": list(block), "crop": list(crop)}, shape,
                  lambda array, zero: to_place(array, block, crop), name in FEW)
    for name, shape, stride in REORGS:
        moves.add(f"reorg_{name}", "tim.Reorg", {"stride": stride}, shape,
                  lambda array, zero: reorg(array, stride), name in FEW)
    moves.write()


if __name__ == "__main__":
    main()
