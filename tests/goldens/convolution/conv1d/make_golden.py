"""Goldens of Conv1d. Oracles: those of Conv2d for a height of 1 (PyTorch, ONNX
Runtime, exact integers in NumPy) and ONNX Runtime's Conv on [N, C, W]."""

import os
import sys

import onnxruntime
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from of_conv2d import (add_floats, add_input_kernels, add_kinds, conv2d, in_1d)
from direct_convolution import AUTO, NO_PAD, SAME, VALID, Geometry
from golden_format import Suite


def g(stride=1, dilation=1, padding=AUTO, pad=(0, 0), multiplier=0):
    return Geometry((stride, 1), (dilation, 1), padding, (*pad, 0, 0), multiplier)


# name, input [N,C,1,W], kernel [OC,C/g,1,K], geometry
GEOMETRIES = [
    ("pads_1_2", (2, 3, 1, 9), (5, 3, 1, 3), g(pad=(1, 2))),
    ("1", (1, 1, 1, 1), (1, 1, 1, 1), g()),
    ("pointwise_33ch", (1, 33, 1, 31), (17, 33, 1, 1), g(padding=VALID)),
    ("kernel_6_valid", (1, 2, 1, 33), (3, 2, 1, 6), g(padding=VALID)),
    ("stride2_pad_0_1", (1, 2, 1, 6), (3, 2, 1, 3), g(2, pad=(0, 1))),
    ("same_even", (1, 3, 1, 8), (4, 3, 1, 4), g(padding=SAME, pad=(3, 3))),
    ("same_stride2", (1, 3, 1, 8), (4, 3, 1, 3), g(2, padding=SAME)),
    ("valid_discards_pad", (1, 2, 1, 7), (2, 2, 1, 3), g(padding=VALID, pad=(2, 1))),
    ("none_acts_as_auto", (1, 2, 1, 7), (2, 2, 1, 3), g(padding=NO_PAD, pad=(2, 1))),
    ("kernel_larger_same", (1, 2, 1, 3), (3, 2, 1, 7), g(padding=SAME)),
    ("dilation_3", (1, 2, 1, 16), (2, 2, 1, 4), g(dilation=3, padding=VALID)),
    ("dilation_0", (1, 2, 1, 6), (2, 2, 1, 3), g(dilation=0)),
    ("kernel_is_input", (1, 3, 1, 5), (2, 3, 1, 5), g(padding=VALID)),
    ("groups2", (1, 6, 1, 7), (4, 3, 1, 3), g(pad=(1, 1))),
    ("depthwise", (1, 5, 1, 9), (1, 5, 1, 3), g(padding=SAME, multiplier=1)),
    ("depthwise_m2", (2, 3, 1, 9), (1, 6, 1, 2), g(2, pad=(1, 0), multiplier=2)),
]


def change(case, _):
    return in_1d(case, "tim.Conv1d")


def main():
    suite = Suite(__file__, onnxruntime, torch)
    add_floats(suite, GEOMETRIES, change)
    named = {row[0]: row for row in GEOMETRIES}
    add_kinds(suite, [named[name] for name in (
        "pads_1_2", "depthwise_m2", "stride2_pad_0_1", "kernel_6_valid")], change)
    add_input_kernels(suite, *GEOMETRIES[0][1:], change)
    suite.add("u8_i8pc_depthwise_input_kernel", lambda rng: change(conv2d.quantized_case(
        rng, "uint8", conv2d.per_tensor(0.05, 121), "int8", "pc", "uint8",
        conv2d.per_tensor(0.31, 119), (1, 3, 1, 9), (1, 6, 1, 2),
        g(padding=SAME, multiplier=2), kernel_role="var"), 0))
    for name, extent in (("larger", 7), ("smaller", 2)):
        suite.add(f"f32_declared_{name}", lambda rng: change(conv2d.float_case(
            rng, "float32", (1, 2, 1, 5), (3, 2, 1, 3), g(pad=(1, 0)), True,
            extents=(extent, 1)), 0))
    suite.write()


if __name__ == "__main__":
    main()
