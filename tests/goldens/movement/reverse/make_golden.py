"""Goldens of Reverse and ShuffleChannel. Oracles: NumPy's flip, ONNX Runtime's
Slice with steps of -1; PyTorch's channel_shuffle."""

import os
import sys

import numpy as np
import onnxruntime
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import Case, Tensor, per_channel, random_tensor
from moved import Moves, agree, onnx

# name, input (row-major), axes (fastest-first)
REVERSES = [
    ("r1", (33,), (0,)),
    ("r2_width", (3, 20), (0,)),
    ("r2_height", (3, 20), (1,)),
    ("r2_both", (3, 20), (1, 0)),
    ("r3_from_the_end", (2, 3, 5), (-1,)),
    ("r3_twice", (2, 3, 5), (1, -2)),
    ("r4_channels", (2, 17, 3, 5), (2,)),
    ("r5", (2, 3, 1, 4, 3), (0, 2, 4)),
]
# name, input (row-major), groups, axis (fastest-first)
SHUFFLES = [
    ("r1", (12,), 3, 0),
    ("r2_axis0", (3, 34), 2, 0),
    ("r2_axis1", (8, 5), 4, 1),
    ("r3_from_the_end", (6, 3, 5), 2, -1),
    ("r4_channels", (2, 34, 3, 5), 2, 2),
    ("r4_axis3", (4, 3, 2, 5), 4, 3),
    ("one_group", (3, 5), 1, 0),
    ("all_groups", (3, 5), 5, 0),
]
FEW = ("r2_both", "r4_channels", "r2_axis0")


def flipped(array, axes):
    at = sorted({(array.ndim - 1 - axis if axis >= 0 else -1 - axis) for axis in axes})
    far = np.full(len(at), np.iinfo(np.int64).min + 1, np.int64)
    found = onnx("Slice", array, np.full(len(at), -1, np.int64), far, np.array(at, np.int64),
                 np.full(len(at), -1, np.int64))
    return agree(np.flip(array, at), found, "ORT Slice")


def shuffled(array, groups, axis):
    at = array.ndim - 1 - axis if axis >= 0 else -1 - axis
    shape = array.shape
    split = shape[:at] + (groups, shape[at] // groups) + shape[at + 1:]
    out = np.swapaxes(array.reshape(split), at, at + 1).reshape(shape)
    channels = np.moveaxis(array, at, 0)[None].reshape(1, shape[at], -1, 1)
    found = torch.nn.functional.channel_shuffle(
        torch.from_numpy(channels.astype(np.float64)), groups).numpy()
    expected = np.moveaxis(out, at, 0).reshape(1, shape[at], -1, 1)
    agree(expected, found.astype(array.dtype), "torch channel_shuffle")
    return out


def channels_case(rng, axis):
    shape = (3, 2, 5, 4)
    scales = rng.uniform(0.01, 0.1, shape[3 - axis])
    x = random_tensor(rng, "int8", shape, per_channel(axis, scales))
    y = Tensor("int8", np.flip(x.array, (1, 3)),
               per_channel(axis, scales[::-1] if axis in (0, 2) else scales))
    return Case("tim.Reverse", {"axis": [0, 2]}, [x], y)


def main():
    moves = Moves(__file__, onnxruntime, torch)
    for name, shape, axes in REVERSES:
        moves.add(f"reverse_{name}", "tim.Reverse", {"axis": list(axes)}, shape,
                  lambda array, zero: flipped(array, axes), name in FEW)
    for axis in range(4):
        moves.suite.add(f"i8pc_reverse_axis{axis}", lambda rng: channels_case(rng, axis))
    for name, shape, groups, axis in SHUFFLES:
        moves.add(f"shuffle_{name}", "tim.ShuffleChannel",
                  {"num_groups": groups, "index_axis": axis}, shape,
                  lambda array, zero: shuffled(array, groups, axis), name in FEW)
    moves.write()


if __name__ == "__main__":
    main()
