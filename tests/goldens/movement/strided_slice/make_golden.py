"""Goldens of StridedSlice. Oracle: TensorFlow's strided_slice, which TFLite's
STRIDED_SLICE is; its masks count from the slowest axis. Outputs that are declared:
NumPy."""

import os
import sys

import numpy as np
import tensorflow

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import Case, Tensor, random_tensor
from moved import F32, Moves, widened

# name, input (row-major), then fastest-first: begin, end, stride, begin_mask,
# end_mask, shrink_axis_mask, new_axis_mask
SLICES = [
    ("r1", (33,), (3,), (30,), (1,), 0, 0, 0, 0),
    ("r1_stride", (33,), (3,), (30,), (4,), 0, 0, 0, 0),
    ("r1_backwards", (33,), (-1,), (-34,), (-1,), 0, 0, 0, 0),
    ("r1_backwards_masks", (33,), (5,), (7,), (-2,), 1, 1, 0, 0),
    ("r1_clamped", (7,), (-20,), (20,), (2,), 0, 0, 0, 0),
    ("r1_all_shrunk", (7,), (-2,), (0,), (1,), 0, 0, 1, 0),
    ("r2", (5, 7), (1, 0), (6, 4), (2, 3), 0, 0, 0, 0),
    ("r2_shrink_first", (5, 7), (4, 1), (5, 4), (1, 1), 0, 0, 1, 0),
    ("r2_shrink_second", (5, 7), (1, -2), (6, 0), (2, 1), 0, 0, 2, 0),
    ("r2_new_axis", (5, 7), (1, 9, 2), (6, 9, 5), (2, 1, 1), 0, 0, 0, 2),
    ("r2_new_axis_last", (5, 7), (1, 0, 9), (6, 5, 9), (1, 1, 1), 0, 0, 0, 4),
    ("r2_fewer_than_rank", (5, 7), (2,), (6,), (1,), 0, 0, 0, 0),
    ("r3_masks", (3, 4, 5), (2, 3, 1), (1, 2, 3), (1, 1, 1), 3, 5, 0, 0),
    ("r4_channels", (2, 19, 3, 5), (0, 0, 2, 0), (0, 0, 18, 0), (1, 1, 1, 1), 11, 11, 0, 0),
    ("r5_first", (2, 3, 2, 4, 9), (2, 0, 0, 0, 0), (7, 0, 0, 0, 0), (1, 1, 1, 1, 1), 30, 30, 0, 0),
    ("r5_mixed", (3, 3, 2, 4, 9), (7, 1, 0, -1, 2), (1, 4, 2, -4, 0), (-3, 1, 1, -2, -1),
     4, 20, 2, 0),
]
FEW = ("r2", "r2_shrink_second", "r4_channels")


def reversed_mask(mask, count):
    return sum(1 << (count - 1 - i) for i in range(count) if mask >> i & 1)


def sliced(array, begin, end, stride, *masks):
    count = len(begin)
    # TensorFlow's vectors begin with the slowest axis: with fewer values than
    # axes an ellipsis stands for the rest.
    rest = array.ndim - count + bin(masks[3]).count("1")
    masks = [reversed_mask(mask, count) for mask in masks]
    vectors = [list(v)[::-1] for v in (begin, end, stride)]
    if rest > 0:
        vectors = [[1] + v for v in vectors]
    shift = 1 if rest > 0 else 0
    masks = [mask << shift for mask in masks]
    found = tensorflow.strided_slice(
        widened(array), *vectors, begin_mask=masks[0], end_mask=masks[1], ellipsis_mask=shift,
        shrink_axis_mask=masks[2], new_axis_mask=masks[3])
    found = found.numpy().astype(array.dtype)
    return found.reshape(1) if found.ndim == 0 else found


# Declared extents rule where begin and end leave nothing, or less.
# name, input, begin, end, stride, shrink_axis_mask, output (all row-major but the mask)
DECLARED = [
    ("whole", (2, 3, 4), (0, 0, 0), (0, 0, 0), (1, 1, 1), 0, (2, 3, 4)),
    ("whole_shrunk", (1, 3, 4), (0, 0, 0), (0, 0, 0), (1, 1, 1), 4, (3, 4)),
    ("whole_shrunk_kept", (1, 3, 4), (0, 0, 0), (0, 0, 0), (1, 1, 1), 4, (1, 3, 4)),
    ("part", (5, 7), (1, 2), (1, 2), (2, 1), 0, (2, 3)),
    ("part_shrunk", (5, 7), (3, 2), (3, 2), (1, 2), 2, (3,)),
]


def declared_case(rng, shape, begin, end, stride, shrink, output):
    x = random_tensor(rng, F32[0], shape, F32[1])
    extents = list(output)
    if shrink and len(output) < len(shape):
        at = len(shape) - 1 - shrink.bit_length() + 1
        extents.insert(at, 1)
    cuts = tuple(slice(b, b + (n - 1) * s + 1, s) for b, n, s in zip(begin, extents, stride))
    y = Tensor(x.dtype, x.array[cuts].reshape(output), x.quant).declared()
    attributes = {"begin_dims": list(begin)[::-1], "end_dims": list(end)[::-1],
                  "stride_dims": list(stride)[::-1], "shrink_axis_mask": shrink}
    return Case("tim.StridedSlice", attributes, [x], y)


def main():
    moves = Moves(__file__, tensorflow)
    for name, shape, begin, end, stride, *masks in SLICES:
        names = ("begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask")
        attributes = {"begin_dims": list(begin), "end_dims": list(end),
                      "stride_dims": list(stride), **dict(zip(names, masks))}
        moves.add(name, "tim.StridedSlice", attributes, shape,
                  lambda array, zero: sliced(array, begin, end, stride, *masks), name in FEW)
    for name, *case in DECLARED:
        moves.suite.add(f"declared_{name}", lambda rng: declared_case(rng, *case))
    moves.write()


if __name__ == "__main__":
    main()
