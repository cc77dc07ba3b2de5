"""Windows' greatest cells in NumPy, for the goldens of this folder: of equal
cells the first in row-major order."""

import itertools

import numpy as np

CEILING, FLOOR = 0, 1
NO_PAD, AUTO, VALID, SAME = -1, 0, 1, 2


class Window:
    """Arrays {W, H, (D)}, as the operator's attributes."""

    def __init__(self, ksize, stride, padding=AUTO, pad=None, rounding=FLOOR, extents=None):
        self.ksize, self.stride, self.padding, self.rounding = ksize, stride, padding, rounding
        self.pad = pad or (0,) * (2 * len(ksize))
        self.extents = extents  # declared ones, {W, H, (D)}

    def attributes(self):
        out = {"padding": self.padding, "ksize": list(self.ksize), "stride": list(self.stride)}
        if any(self.pad):
            out["pad"] = list(self.pad)
        if self.rounding == CEILING:
            out["round_type"] = CEILING
        return out

    def axis(self, i, extent):
        """(kernel, stride, front pad, back pad, outputs) along axis i."""
        k, stride = self.ksize[i], self.stride[i]
        if self.padding == SAME:
            out = -(-extent // stride)
            total = max((out - 1) * stride + k - extent, 0)
            return k, stride, total // 2, total - total // 2, out
        front, back = (0, 0) if self.padding == VALID else self.pad[2 * i:2 * i + 2]
        room = extent + front + back - k
        out = (-(-room // stride) if self.rounding == CEILING else room // stride) + 1
        if self.extents:
            out = self.extents[i]
        return k, stride, front, back, out

    def axes(self, shape):
        """Of an array's shape [..., H, W], slowest first."""
        count = len(self.ksize)
        return [self.axis(i, shape[len(shape) - 1 - i]) for i in reversed(range(count))]


def greatest(x, window):
    """(place in x, flat; place in the window) of every window; -1 and 0 of one
    without a cell inside."""
    axes = window.axes(x.shape)
    lead = x.shape[:x.ndim - len(axes)]
    shape = lead + tuple(a[4] for a in axes)
    cells, local = np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
    inside = x.shape[x.ndim - len(axes):]
    for at in np.ndindex(*shape):
        plane, place = at[:len(lead)], at[len(lead):]
        best = None
        ranges = [range(a[0]) for a in axes]
        for offsets in itertools.product(*ranges):
            where = [p * a[1] - a[2] + o for p, a, o in zip(place, axes, offsets)]
            if any(w < 0 or w >= e for w, e in zip(where, inside)):
                continue
            value = x[plane + tuple(where)]
            if best is None or value > best:
                best = value
                cells[at] = np.ravel_multi_index(plane + tuple(where), x.shape)
                local[at] = np.ravel_multi_index(offsets, [a[0] for a in axes])
    return cells, local
