"""Goldens of DeConv1d. Oracles: those of DeConv2d for a height of 1 (PyTorch, exact
integers in NumPy) and ONNX Runtime's ConvTranspose on [N, C, W]."""

import os
import sys

import onnxruntime
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "convolution"),
                os.path.join(HERE, "..", "..")]
import sums
from golden_format import Suite
from of_conv2d import conv2d
from transposed import Depthwise, InOneDimension, Transposed

OP = "tim.DeConv1d"
SAME = 2


def g(stride=1, pad=(0, 0), output_padding=0, group=1, kind=Transposed, **extra):
    return InOneDimension(kind((stride, 1), (*pad, 0, 0), (output_padding, 0), group, **extra))


# name, input [N,C,W], kernel [OC,C/g,K], geometry
GEOMETRIES = [
    ("stride2_pads", (2, 3, 9), (5, 3, 4), g(2, (1, 2))),
    ("depthwise", (1, 6, 7), (1, 6, 3), g(2, (1, 0), group=6, kind=Depthwise)),
    ("groups2", (1, 4, 5), (6, 2, 3), g(1, (0, 1), group=2)),
    ("1", (1, 1, 1), (1, 1, 1), g()),
    ("3_2_to_5", (1, 2, 3), (1, 2, 3), g()),
    ("output_padding_1", (1, 2, 3), (1, 2, 3), g(output_padding=1)),
    ("5_5_to_7_2", (1, 5, 5), (2, 5, 3), g()),
    ("oc_count_discarded", (1, 2, 4), (1, 2, 3), g(2, oc_count=2, ksize=9, padding=SAME)),
    ("stride3_output_padding", (1, 17, 6), (18, 17, 5), g(3, (1, 1), 2)),
    ("depthwise_last_axis", (1, 5, 4), (5, 1, 2), g(2, group=5)),
]
HALVES = ("stride2_pads", "depthwise", "groups2")
SMALL = ("small", (1, 2, 3), (2, 2, 2), g(2, (0, 1)))


def main():
    suite = Suite(__file__, onnxruntime, torch)
    sums.add_floats(suite, OP, GEOMETRIES, HALVES)
    sums.add_quantized(suite, OP, conv2d, GEOMETRIES[:3], SMALL)
    for name, extent in (("larger", 14), ("smaller", 7)):
        suite.add(f"f32_declared_{name}", lambda rng: sums.float_case(
            rng, OP, g(2, (1, 0), 1), "float32", (1, 2, 5), (3, 2, 3), "float32",
            extents=(extent,)))
    suite.write()


if __name__ == "__main__":
    main()
