"""Goldens of GroupedConv1d. Oracles: those of Conv2d for a height of 1 (PyTorch,
ONNX Runtime, exact integers in NumPy) and ONNX Runtime's Conv on [N, C, W]."""

import os
import sys

import onnxruntime
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from of_conv2d import (add_floats, add_input_kernels, add_kinds, conv2d, in_1d)
from direct_convolution import AUTO, SAME, VALID, Geometry
from golden_format import Suite


def g(stride=1, dilation=1, padding=AUTO, pad=(0, 0)):
    return Geometry((stride, 1), (dilation, 1), padding, (*pad, 0, 0))


# name, input [N,C,1,W], kernel [OC,C/g,1,K], geometry
GEOMETRIES = [
    ("groups2", (2, 6, 1, 9), (4, 3, 1, 3), g(pad=(1, 2))),
    ("groups2_kernel_6", (1, 2, 1, 6), (2, 1, 1, 6), g(padding=VALID)),
    ("groups1", (1, 3, 1, 7), (5, 3, 1, 2), g(2)),
    ("groups5_of_1", (1, 5, 1, 9), (10, 1, 1, 3), g(padding=SAME)),
    ("groups4_of_17_same_stride2", (1, 68, 1, 8), (12, 17, 1, 4), g(2, padding=SAME)),
    ("groups3_dilation_0", (1, 6, 1, 8), (3, 2, 1, 3), g(dilation=0, pad=(0, 1))),
    ("groups3_dilation_2", (1, 6, 1, 8), (9, 2, 1, 3), g(dilation=2, padding=SAME)),
]


def change(case, group):
    return in_1d(case, "tim.GroupedConv1d", group)


def main():
    suite = Suite(__file__, onnxruntime, torch)
    add_floats(suite, GEOMETRIES, change)
    add_kinds(suite, [GEOMETRIES[i] for i in (0, 3, 4)], change)
    add_input_kernels(suite, *GEOMETRIES[0][1:], change)
    # The kernel is longer than the input: what it reads beyond is 0.
    suite.add("f32_declared_2_kernel_3_input_2", lambda rng: change(conv2d.float_case(
        rng, "float32", (1, 4, 1, 2), (4, 2, 1, 3), g(padding=VALID), True,
        extents=(2, 1)), 2))
    suite.write()


if __name__ == "__main__":
    main()
