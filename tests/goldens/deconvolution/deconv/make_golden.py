"""Goldens of DeConv2d. Oracles: PyTorch conv_transpose2d in float64 and ONNX
Runtime's ConvTranspose; quantized codes from exact integers in NumPy."""

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
from transposed import Depthwise, Transposed as t

OP = "tim.DeConv2d"
VALID, SAME = 1, 2

# name, input [N,C,H,W], kernel [OC,C/g,KH,KW], geometry
GEOMETRIES = [
    ("stride2_pads", (1, 3, 3, 4), (5, 3, 4, 3), t((2, 2), (1, 1, 2, 1))),
    ("depthwise", (1, 6, 5, 4), (1, 6, 3, 3), Depthwise((2, 1), (1, 0, 0, 1), group=6)),
    ("groups2", (1, 4, 3, 4), (6, 2, 3, 2), t((1, 2), (0, 1, 1, 0), group=2)),
    ("1x1", (1, 1, 1, 1), (1, 1, 1, 1), t()),
    ("3x3", (1, 2, 3, 3), (1, 2, 3, 3), t()),
    ("stride3_output_padding", (1, 2, 3, 4), (3, 2, 3, 3), t((3, 3), (1, 1, 1, 1), (2, 1))),
    ("output_padding_beyond_stride", (1, 2, 2, 3), (3, 2, 2, 2), t((1, 2), (0, 0, 0, 0), (3, 2))),
    ("2x1_to_4x3", (1, 1, 1, 2), (1, 1, 3, 3), t((1, 1), (0, 0, 0, 0))),
    ("stride_beyond_kernel", (1, 3, 4, 3), (4, 3, 2, 1), t((4, 3))),
    ("k4_s2_17ch", (1, 17, 6, 5), (33, 17, 4, 4), t((2, 2), (1, 1, 1, 1))),
    ("k4_s2_33ch_wide", (1, 33, 3, 19), (16, 33, 4, 4), t((2, 2), (1, 1, 1, 1))),
    ("k5_s3_stripes", (1, 16, 4, 9), (18, 16, 5, 5), t((3, 2), (2, 1, 0, 3))),
    ("k2_s2_tiles", (2, 8, 4, 4), (12, 8, 2, 2), t((2, 2))),
    ("pads_leave_one", (1, 2, 2, 2), (2, 2, 3, 3), t((1, 1), (2, 1, 1, 2))),
    ("same_is_inert", (1, 2, 3, 4), (3, 2, 3, 3), t((2, 2), padding=SAME)),
    ("valid_keeps_pads", (1, 2, 3, 4), (3, 2, 3, 3), t((2, 2), (1, 1, 1, 1), padding=VALID)),
    ("groups4_of_1", (1, 4, 3, 3), (8, 1, 2, 2), t((2, 2), group=4)),
    ("depthwise_last_axis", (1, 5, 3, 3), (5, 1, 3, 3), t((2, 2), group=5)),
    ("row", (1, 3, 1, 17), (4, 3, 1, 5), t((2, 1), (2, 2, 0, 0))),
]
HALVES = ("stride2_pads", "depthwise", "groups2", "k4_s2_17ch")
SMALL = ("small", (1, 2, 2, 2), (2, 2, 2, 2), t((2, 2), (0, 1, 1, 0)))


def main():
    suite = Suite(__file__, onnxruntime, torch)
    sums.add_floats(suite, OP, GEOMETRIES, HALVES)
    sums.add_quantized(suite, OP, conv2d, GEOMETRIES[:3], SMALL)
    for name, extents in (("larger", (14, 12)), ("smaller", (7, 5))):
        suite.add(f"f32_declared_{name}", lambda rng: sums.float_case(
            rng, OP, t((2, 2), (1, 0, 0, 1), (1, 1)), "float32", (1, 2, 4, 5), (3, 2, 3, 3),
            "float32", extents=extents))
    suite.write()


if __name__ == "__main__":
    main()
