"""Transposed convolutions as scattered products in NumPy, compared with PyTorch's
and ONNX Runtime's. Imported with tests/goldens on the path."""

import numpy as np
import torch

import oracle


class Transposed:
    """Attributes of a DeConv2d; pairs are {W, H}, `pad` {left, right, top, bottom}.
    Kernels are [OC, C / group, KH, KW], or [1, C, KH, KW] where group is C."""

    def __init__(self, stride=(1, 1), pad=(0, 0, 0, 0), output_padding=(0, 0), group=1,
                 **extra):
        self.stride, self.pad, self.output_padding = stride, pad, output_padding
        self.group, self.extra = group, extra

    def attributes(self):
        return {"pad": list(self.pad), "stride": list(self.stride),
                "output_padding": list(self.output_padding), "group": self.group,
                **self.extra}

    def channels(self, k_shape):
        return self.group if self.is_depthwise(k_shape) else k_shape[0]

    def is_depthwise(self, k_shape):
        return self.group > 1 and k_shape[0] == 1

    def kernel_axis(self):
        return 2 if self.extra_depthwise else 3

    extra_depthwise = False

    def extent(self, i, x_shape, k_shape):
        return ((x_shape[3 - i] - 1) * self.stride[i] + k_shape[3 - i]
                - self.pad[2 * i] - self.pad[2 * i + 1] + self.output_padding[i])

    def sums(self, x, k, extents=None):
        """What every input element adds, position by position."""
        by_group = k.reshape(self.group, -1, x.shape[1] // self.group, *k.shape[2:])
        width, height = extents or (self.extent(i, x.shape, k.shape) for i in (0, 1))
        outputs = by_group.shape[1]
        out = np.zeros((x.shape[0], self.group * outputs, height, width), x.dtype)
        for g in range(self.group):
            cells = x[:, g * by_group.shape[2]:(g + 1) * by_group.shape[2]]
            to = out[:, g * outputs:(g + 1) * outputs]
            for yi, xi, kh, kw in np.ndindex(*x.shape[2:], *k.shape[2:]):
                y = yi * self.stride[1] - self.pad[2] + kh
                xo = xi * self.stride[0] - self.pad[0] + kw
                if 0 <= y < height and 0 <= xo < width:
                    to[:, :, y, xo] += cells[:, :, yi, xi] @ by_group[g, :, :, kh, kw].T
        self.check_with_torch(x, k, out)
        return out

    def kernel_by_input(self, x, k):
        """[C, OC / group, KH, KW], as PyTorch and ONNX have it."""
        by_group = k.reshape(self.group, -1, x.shape[1] // self.group, *k.shape[2:])
        return np.ascontiguousarray(by_group.transpose(0, 2, 1, 3, 4)).reshape(
            x.shape[1], -1, *k.shape[2:])

    def check_with_torch(self, x, k, sums):
        whole = torch.nn.functional.conv_transpose2d(
            torch.tensor(x.astype(np.float64)),
            torch.tensor(self.kernel_by_input(x, k).astype(np.float64)), None,
            self.stride[::-1], groups=self.group).numpy()
        found = np.zeros(sums.shape)
        cut = whole[:, :, self.pad[2]:, self.pad[0]:][:, :, :sums.shape[2], :sums.shape[3]]
        found[:, :, :cut.shape[2], :cut.shape[3]] = cut
        if np.issubdtype(x.dtype, np.integer):
            assert np.abs(sums).max(initial=0) < 2**53
            oracle.require_equal(found, sums, "torch conv_transpose2d")
        else:
            oracle.require_close(found, sums, "torch conv_transpose2d",
                                 1e-12 * max(np.abs(sums).max(initial=0), 1))

    def check_floats(self, x, k, bias, sums, bound):
        if any(more >= stride for more, stride in zip(self.output_padding, self.stride)):
            return  # beyond what ONNX allows
        left, right, top, bottom = self.pad
        found = oracle.run_onnx(
            "ConvTranspose", [x.array, self.kernel_by_input(x.array, k.array)]
            + [b.array.astype(np.float32) for b in bias], group=self.group,
            pads=[top, left, bottom, right], strides=self.stride[::-1],
            output_padding=self.output_padding[::-1])
        oracle.require_close(found, sums, "ORT ConvTranspose", bound)

    def check_integers(self, x, k, bias, sums, out):
        """ONNX has no transposed convolution of integers; PyTorch's in float64,
        with which `sums` compares, is exact."""


class Depthwise(Transposed):
    """Every channel a group, with a kernel [1, C, KH, KW]."""

    extra_depthwise = True


class InOneDimension:
    """A geometry of height 1 as one of DeConv1d, for arrays [N, C, W]."""

    def __init__(self, transposed):
        self.of = transposed

    def attributes(self):
        return {"pad": list(self.of.pad[:2]), "stride": self.of.stride[0],
                "output_padding": self.of.output_padding[0], "group": self.of.group,
                **self.of.extra}

    def channels(self, k_shape):
        return self.of.channels(k_shape)

    def kernel_axis(self):
        return self.of.kernel_axis() - 1

    def sums(self, x, k, extents=None):
        sums = self.of.sums(x[:, :, None], k[:, :, None],
                            (extents[0], 1) if extents else None)
        return sums[:, :, 0]

    def check_floats(self, x, k, bias, sums, bound):
        if self.of.output_padding[0] >= self.of.stride[0]:
            return  # beyond what ONNX allows
        kernel = self.of.kernel_by_input(x.array[:, :, None], k.array[:, :, None])
        found = oracle.run_onnx(
            "ConvTranspose", [x.array, kernel[:, :, 0]]
            + [b.array.astype(np.float32) for b in bias], group=self.of.group,
            pads=self.of.pad[:2], strides=self.of.stride[:1],
            output_padding=self.of.output_padding[:1])
        oracle.require_close(found, sums, "ORT ConvTranspose in 1-D", bound)

    def check_integers(self, x, k, bias, sums, out):
        self.of.check_integers(x, k, bias, sums, out)
