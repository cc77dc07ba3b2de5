"""Goldens of Conv3d. Oracles: PyTorch conv3d in float64, ONNX Runtime's Conv and
QLinearConv; quantized codes from exact integers in NumPy."""

import os
import sys

import numpy as np
import onnxruntime
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "convolution"),
                os.path.join(HERE, "..", "..", "convolution", "conv2d"),
                os.path.join(HERE, "..", "..")]
import oracle
import sums
from direct_convolution import AUTO, NO_PAD, SAME, VALID
from golden_format import Suite
from of_conv2d import conv2d

OP = "tim.Conv3d"


class Geometry:
    """Attributes; triples are {W, H, D}, `pad` two for each. Kernels are [OC, C / g,
    KD, KH, KW]; depthwise [1, C * m, ...] or [C * m, 1, ...]."""

    def __init__(self, stride=(1, 1, 1), dilation=(1, 1, 1), padding=AUTO,
                 pad=(0, 0, 0, 0, 0, 0), multiplier=0, **extra):
        self.stride, self.dilation, self.padding = stride, dilation, padding
        self.pad, self.multiplier, self.extra = pad, multiplier, extra

    def attributes(self):
        return {"padding": self.padding, "pad": list(self.pad),
                "stride": list(self.stride), "dilation": list(self.dilation),
                "multiplier": self.multiplier, **self.extra}

    def channels(self, k_shape):
        return max(k_shape[:2]) if self.multiplier else k_shape[0]

    def kernel_axis(self):
        return 3 if self.multiplier else 4

    def axis(self, i, x_shape, k_shape):
        """(front pad, back pad, output extent) along W, H or D."""
        extent, stride = x_shape[4 - i], self.stride[i]
        reach = (k_shape[4 - i] - 1) * max(self.dilation[i], 1) + 1
        front, back = self.pad[2 * i:2 * i + 2]
        if self.padding == VALID:
            front = back = 0
        elif self.padding == SAME:
            total = max((-(-extent // stride) - 1) * stride + reach - extent, 0)
            front, back = total // 2, total - total // 2
        return front, back, (extent + front + back - reach) // stride + 1

    def groups(self, x, k):
        if self.multiplier:
            return x.shape[1], k.reshape(-1, 1, *k.shape[2:])
        return x.shape[1] // k.shape[1], k

    def sums(self, x, k, extents=None):
        groups, k = self.groups(x, k)
        axes = [self.axis(i, x.shape, k.shape) for i in (2, 1, 0)]  # D, H, W
        shape = extents[::-1] if extents else [out for _, _, out in axes]
        steps = [self.stride[i] for i in (2, 1, 0)]
        dilations = [max(self.dilation[i], 1) for i in (2, 1, 0)]
        by_group = k.reshape(groups, -1, *k.shape[1:])
        out = np.zeros((x.shape[0], k.shape[0], *shape), x.dtype)
        per_group, outputs = k.shape[1], by_group.shape[1]
        for cell in np.ndindex(*shape):
            for tap in np.ndindex(*k.shape[2:]):
                at = tuple(c * s - front + t * d for c, s, (front, _, _), t, d in
                           zip(cell, steps, axes, tap, dilations))
                if not all(0 <= p < n for p, n in zip(at, x.shape[2:])):
                    continue
                for g in range(groups):
                    values = x[(slice(None), slice(g * per_group, (g + 1) * per_group)) + at]
                    taps = by_group[(g, slice(None), slice(None)) + tap]
                    out[(slice(None), slice(g * outputs, (g + 1) * outputs)) + cell] += (
                        values @ taps.T)
        self.check_with_torch(x, k, groups, axes, extents, out)
        return out

    def check_with_torch(self, x, k, groups, axes, extents, out):
        if extents:
            return
        pads = [p for front, back, _ in reversed(axes) for p in (front, back)]
        padded = torch.nn.functional.pad(torch.tensor(x.astype(np.float64)), pads)
        found = torch.nn.functional.conv3d(
            padded, torch.tensor(k.astype(np.float64)), None, self.stride[::-1], 0,
            [max(d, 1) for d in self.dilation[::-1]], groups).numpy()
        if np.issubdtype(x.dtype, np.integer):
            assert np.abs(out).max(initial=0) < 2**53
            oracle.require_equal(found, out, "torch conv3d")
        else:
            oracle.require_close(found, out, "torch conv3d",
                                 1e-12 * max(np.abs(out).max(initial=0), 1))

    def onnx_attributes(self, x, kernel, groups):
        axes = [self.axis(i, x.shape, kernel.shape) for i in (2, 1, 0)]
        return {"group": groups, "strides": self.stride[::-1],
                "dilations": [max(d, 1) for d in self.dilation[::-1]],
                "pads": [front for front, _, _ in axes] + [back for _, back, _ in axes]}

    def check_floats(self, x, k, bias, sums, bound):
        groups, kernel = self.groups(x.array, k.array)
        found = oracle.run_onnx(
            "Conv", [x.array, kernel] + [b.array.astype(np.float32) for b in bias],
            **self.onnx_attributes(x.array, kernel, groups))
        oracle.require_close(found, sums, "ORT Conv", bound)

    def check_integers(self, x, k, bias, sums, out):
        eight = ("uint8", "int8")
        if out is None or x.dtype not in eight or k.dtype not in eight or (
                out.dtype != x.dtype or (x.dtype, k.dtype) == ("int8", "uint8")):
            return
        groups, kernel = self.groups(x.array, k.array)
        per_kernel = k.quant.kind == "channel"
        zero = lambda t: np.array(
            0 if t.quant.kind == "channel" else t.quant.zero(), t.array.dtype)
        scales = np.array(k.quant.scales if per_kernel else k.quant.scale(), np.float32)
        zeros = np.zeros(len(k.quant.scales), k.array.dtype) if per_kernel else zero(k)
        codes = oracle.run_onnx(
            "QLinearConv", [x.array, np.float32(x.quant.scale()), zero(x), kernel, scales,
                            zeros, np.float32(out.quant.scale()), zero(out)]
            + [b.array for b in bias if b.dtype == "int32"],
            **self.onnx_attributes(x.array, kernel, groups))
        oracle.require_equal(codes, out.array, "ORT QLinearConv")


g = Geometry
# name, input [N,C,D,H,W], kernel [OC,C/g,KD,KH,KW], geometry
GEOMETRIES = [
    ("pad", (1, 3, 3, 4, 5), (5, 3, 2, 3, 3), g(pad=(1, 1, 1, 0, 0, 1))),
    ("depthwise_m2", (1, 3, 3, 4, 3), (1, 6, 2, 2, 3), g(padding=SAME, multiplier=2)),
    ("groups2_stride", (2, 4, 4, 3, 5), (6, 2, 2, 2, 2), g(stride=(2, 1, 2))),
    ("1x1x1", (1, 1, 1, 1, 1), (1, 1, 1, 1, 1), g()),
    ("2x2x2_valid", (1, 2, 3, 3, 3), (2, 2, 2, 2, 2), g(padding=VALID, pad=(1, 1, 1, 1, 1, 1))),
    ("none_acts_as_auto", (1, 2, 3, 3, 3), (2, 2, 3, 2, 2),
     g(padding=NO_PAD, pad=(1, 0, 0, 1, 2, 1))),
    ("dilation_1_2_3", (1, 2, 7, 6, 5), (3, 2, 2, 3, 3), g(dilation=(1, 2, 3))),
    ("dilation_0_same", (1, 2, 4, 3, 5), (3, 2, 3, 2, 4), g(dilation=(0, 0, 0), padding=SAME)),
    ("same_strides", (1, 3, 5, 4, 7), (4, 3, 2, 3, 3), g(stride=(2, 3, 2), padding=SAME)),
    ("pointwise_33ch", (1, 33, 2, 3, 4), (17, 33, 1, 1, 1), g()),
    ("3x3x3_17ch", (1, 17, 3, 4, 5), (18, 17, 3, 3, 3), g(padding=SAME)),
    ("depthwise_last_axis", (1, 4, 3, 3, 3), (4, 1, 2, 2, 2), g(multiplier=1)),
    ("weights_ksize", (1, 2, 2, 3, 4), (3, 2, 2, 2, 2), g(weights=3, ksize=[2, 2, 2])),
]
HALVES = ("pad", "depthwise_m2", "groups2_stride")
SMALL = ("small", (1, 2, 2, 2, 3), (2, 2, 2, 1, 2), g(pad=(1, 0, 0, 0, 0, 1)))


def main():
    suite = Suite(__file__, onnxruntime, torch)
    sums.add_floats(suite, OP, GEOMETRIES, HALVES)
    sums.add_quantized(suite, OP, conv2d, GEOMETRIES[:3], SMALL)
    for name, extents in (("larger", (6, 5, 4)), ("smaller", (2, 3, 1))):
        suite.add(f"f32_declared_{name}", lambda rng: sums.float_case(
            rng, OP, g(pad=(1, 0, 0, 1, 1, 0)), "float32", (1, 2, 3, 4, 5), (3, 2, 2, 2, 3),
            "float32", extents=extents))
    suite.write()


if __name__ == "__main__":
    main()
