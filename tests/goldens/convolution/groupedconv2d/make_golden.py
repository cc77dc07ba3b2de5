"""Goldens of GroupedConv2d. Oracles: those of Conv2d (PyTorch, ONNX Runtime, exact
integers in NumPy), which have groups as the kernel's extents say them."""

import os
import sys

import onnxruntime
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from of_conv2d import add_floats, add_input_kernels, add_kinds, conv2d, grouped_2d
from direct_convolution import SAME, VALID, Geometry as g
from golden_format import Suite

# name, input [N,C,H,W], kernel [OC,C/g,KH,KW], geometry
GEOMETRIES = [
    ("groups2", (1, 4, 3, 4), (4, 2, 2, 2), g(pad=(1, 0, 0, 1))),
    ("groups1", (1, 3, 5, 4), (4, 3, 3, 3), g(padding=SAME)),
    ("groups6_stride2_pad_0_1", (1, 6, 6, 6), (6, 1, 3, 3), g((2, 2), pad=(0, 1, 0, 1))),
    ("groups4_of_17", (1, 68, 3, 4), (12, 17, 2, 2), g(padding=VALID)),
    ("groups3_m2_dilation_2", (1, 3, 7, 8), (6, 1, 2, 3), g((1, 2), (2, 1), SAME)),
    ("groups2_kernel_larger_same", (1, 2, 2, 3), (4, 1, 5, 7), g((1, 1), (0, 0), SAME)),
    ("depthwise_33ch", (1, 33, 5, 5), (33, 1, 3, 3), g(pad=(1, 1, 1, 1))),
]


def main():
    suite = Suite(__file__, onnxruntime, torch)
    add_floats(suite, GEOMETRIES, grouped_2d)
    add_kinds(suite, [GEOMETRIES[i] for i in (0, 2, 4)],
              grouped_2d, main=("u8_u8", "i8_i8", "u8_i8pc", "i8_i8pc"))
    add_input_kernels(suite, *GEOMETRIES[0][1:], grouped_2d)
    suite.add("f32_declared_larger", lambda rng: grouped_2d(conv2d.float_case(
        rng, "float32", (1, 4, 4, 5), (6, 2, 3, 3), g(pad=(1, 0, 0, 1)), True,
        extents=(7, 6)), 2))
    suite.write()


if __name__ == "__main__":
    main()
