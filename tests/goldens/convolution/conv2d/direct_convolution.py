"""Conv2d as sums of products in NumPy, compared with PyTorch's. Imported with
tests/goldens on the path."""

import numpy as np
import torch

import oracle

NO_PAD, AUTO, VALID, SAME = -1, 0, 1, 2


class Geometry:
    """Attributes of one Conv2d, resolved for an input and a kernel extent."""

    def __init__(self, stride=(1, 1), dilation=(1, 1), padding=AUTO, pad=(0, 0, 0, 0),
                 multiplier=0, **extra):
        self.stride, self.dilation = stride, dilation
        self.padding, self.pad, self.multiplier = padding, pad, multiplier
        self.extra = extra

    def attributes(self):
        return {"padding": self.padding, "pad": list(self.pad),
                "stride": list(self.stride), "dilation": list(self.dilation),
                "multiplier": self.multiplier, **self.extra}

    def axis(self, i, extent, kernel):
        """(front pad, output extent) along axis i: 0 = W, 1 = H."""
        reach = (kernel - 1) * max(self.dilation[i], 1) + 1
        stride = self.stride[i]
        if self.padding == SAME:
            out = -(-extent // stride)
            return max((out - 1) * stride + reach - extent, 0) // 2, out
        front, back = self.pad[2 * i:2 * i + 2]
        if self.padding == VALID:
            front = back = 0
        return front, (extent + front + back - reach) // stride + 1

    def groups(self, x, k):
        """(groups, kernel as [OC, C / groups, KH, KW])"""
        if self.multiplier:
            return x.shape[1], k.reshape(-1, 1, *k.shape[2:])
        return x.shape[1] // k.shape[1], k


def convolve(x, k, geometry, extents=None):
    """Sum of products in the arrays' own arithmetic; reads outside give 0."""
    groups, k = geometry.groups(x, k)
    (left, out_w), (top, out_h) = (
        geometry.axis(i, x.shape[3 - i], k.shape[3 - i]) for i in (0, 1))
    if extents:
        out_w, out_h = extents
    n, c, h, w = x.shape
    oc, per_group = k.shape[:2]
    sums = np.zeros((n, oc, out_h, out_w), x.dtype)
    for o in range(oc):
        first = o // (oc // groups) * per_group
        for y, x0 in np.ndindex(out_h, out_w):
            for kh, kw in np.ndindex(*k.shape[2:]):
                row = y * geometry.stride[1] - top + kh * max(geometry.dilation[1], 1)
                col = x0 * geometry.stride[0] - left + kw * max(geometry.dilation[0], 1)
                if 0 <= row < h and 0 <= col < w:
                    cells = x[:, first:first + per_group, row, col]
                    sums[:, o, y, x0] += cells @ k[o, :, kh, kw]
    if extents is None:
        check_with_torch(x, k, geometry, groups, sums)
    return sums


def check_with_torch(x, k, geometry, groups, sums):
    pads = []
    for i in (0, 1):
        front, out = geometry.axis(i, x.shape[3 - i], k.shape[3 - i])
        reach = (k.shape[3 - i] - 1) * max(geometry.dilation[i], 1) + 1
        back = (out - 1) * geometry.stride[i] + reach - x.shape[3 - i] - front
        pads += [front, back]
    padded = torch.nn.functional.pad(torch.tensor(x.astype(np.float64)), pads)
    found = torch.nn.functional.conv2d(
        padded, torch.tensor(k.astype(np.float64)), None, geometry.stride[::-1],
        0, [max(d, 1) for d in geometry.dilation[::-1]], groups).numpy()
    if np.issubdtype(x.dtype, np.integer) and np.abs(sums).max(initial=0) < 2**53:
        oracle.require_equal(found, sums, "torch conv2d")
    else:
        oracle.require_close(found, sums, "torch conv2d",
                             1e-12 * max(np.abs(sums).max(initial=0), 1))


def onnx_attributes(geometry, x, k):
    pads = [geometry.axis(i, x.shape[3 - i], k.shape[3 - i])[0] for i in (1, 0)]
    ends = []
    for i, front in zip((1, 0), pads):
        out = geometry.axis(i, x.shape[3 - i], k.shape[3 - i])[1]
        reach = (k.shape[3 - i] - 1) * max(geometry.dilation[i], 1) + 1
        ends.append(max((out - 1) * geometry.stride[i] + reach - x.shape[3 - i] - front, 0))
    return {"pads": pads + ends, "strides": geometry.stride[::-1],
            "dilations": [max(d, 1) for d in geometry.dilation[::-1]]}
