"""Goldens of RoiPool. Oracle: the rule in NumPy with exact integers; ONNX
Runtime's MaxRoiPool, whose bins are rounded in float32, has the float32 cases."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, TYPES, Case, Suite, Tensor, fixed_point, is_float,
                           per_tensor, random_tensor, store)

F = np.float32


def rounded(value):
    """Halves away from zero."""
    return int(np.copysign(np.floor(abs(float(value)) + 0.5), value))


def bin_of(low, high, index, bins, extent):
    length = max(high - low + 1, 1)
    begin = index * length // bins + low
    end = -(-(index + 1) * length // bins) + low
    return [min(max(at, 0), extent) for at in (begin, end)]


def pool(x, rois, scale, size, fill):
    """Arrays [N, C, H, W], [R, 5]; size {W, H}."""
    out = np.full((len(rois), x.shape[1], size[1], size[0]), fill, x.dtype)
    for r, roi in enumerate(rois):
        batch = int(np.trunc(roi[0]))
        if not 0 <= batch < x.shape[0]:
            continue
        x1, y1, x2, y2 = [rounded(F(c) * F(scale)) for c in roi[1:]]
        for py, px in np.ndindex(size[1], size[0]):
            top, bottom = bin_of(y1, y2, py, size[1], x.shape[2])
            left, right = bin_of(x1, x2, px, size[0], x.shape[3])
            if top < bottom and left < right:
                out[r, :, py, px] = x[batch, :, top:bottom, left:right].max(axis=(1, 2))
    return out


def check(x, rois, scale, size, expected):
    if not all(0 <= b < x.shape[0] for b in rois[:, 0]):
        return
    found = oracle.run_onnx("MaxRoiPool", [x, rois.astype(F)],
                            pooled_shape=[size[1], size[0]], spatial_scale=scale)
    oracle.require_equal(found, expected, "ORT MaxRoiPool")


class Geometry:
    def __init__(self, shape, size, scale=1.0, rois=None, count=3, **extra):
        self.shape, self.size, self.scale = shape, size, scale
        self.rois, self.count, self.extra = rois, count, extra

    def make_rois(self, rng):
        image = np.array([self.shape[3], self.shape[2]] * 2) / self.scale
        if self.rois is not None:
            rois = np.array(self.rois, float)
            return np.concatenate([rois[:, :1], rois[:, 1:] * image], axis=1)
        corners = np.sort(rng.uniform(0, 1, (self.count, 2, 2)), axis=1).reshape(-1, 4)
        batches = rng.integers(0, self.shape[0], (self.count, 1))
        return np.concatenate([batches, corners * image], axis=1)


def case_of(rng, geometry, features, rois, out, negative=False):
    x = random_tensor(rng, features[0], geometry.shape, features[1])
    if negative:
        x.array = -1 - np.abs(x.array)
    real_rois = geometry.make_rois(rng)
    if is_float(rois[0]):
        regions = Tensor(rois[0], real_rois.astype(rois[0]))
    else:
        low, high = TYPES[rois[0]][1:]
        codes = np.rint(real_rois / rois[1].scale() + rois[1].zero())
        regions = Tensor(rois[0], np.clip(codes, low, high).astype(int), rois[1])
    numbers = regions.real().astype(F)
    if (out[0], out[1].text()) == (features[0], features[1].text()):
        y = Tensor(out[0], pool(x.array, numbers, geometry.scale, geometry.size,
                                features[1].zero()), out[1])
    else:
        y = store(pool(x.real(), numbers, geometry.scale, geometry.size, 0), *out)
    if features[0] == rois[0] == out[0] == "float32":
        check(x.array, regions.array, geometry.scale, geometry.size, y.array)
    attributes = {"scale": geometry.scale, "size": list(geometry.size), **geometry.extra}
    return Case("tim.RoiPool", attributes, [x, regions], y, EXACT)


G = Geometry
MANY = [
    ("2x2", G((1, 1, 4, 4), (2, 2), rois=[(0, 0.1, 0.1, 0.8, 0.9)])),
    ("3x2_half", G((2, 3, 12, 10), (3, 2), 0.5, count=4)),
    ("2x3_sixteenth", G((2, 2, 7, 9), (2, 3), 0.0625)),
    ("7x7", G((1, 3, 9, 9), (7, 7), count=2)),
]
MORE = [
    ("1x1", G((1, 1, 1, 1), (1, 1), rois=[(0, 0, 0, 1, 1)])),
    ("channels_33", G((1, 33, 9, 9), (3, 3), 0.25, count=2)),
    ("bins_of_a_small_region", G((1, 2, 6, 6), (4, 4), rois=[(0, 0.5, 0.5, 0.6, 0.5)])),
    ("corners_in_reverse", G((1, 2, 6, 6), (2, 2), rois=[(0, 0.8, 0.7, 0.2, 0.1)])),
    ("across_the_border", G((1, 2, 6, 5), (3, 3), 0.5, rois=[
        (0, -0.5, -0.4, 0.5, 0.6), (0, 0.6, 0.5, 1.6, 1.4), (0, -0.3, 0.2, 1.3, 0.7)])),
    ("outside", G((1, 2, 6, 5), (2, 2), rois=[(0, 2, 2, 3, 3), (0, -3, 0, -2, 1)])),
    ("halves", G((1, 1, 8, 8), (2, 2), rois=[(0, 0.0625, 0.1875, 0.5625, 0.8125),
                                             (0, -0.0625, -0.1875, 0.3125, 0.4375)])),
    ("batches_that_are_not_there", G((2, 2, 5, 5), (2, 2), rois=[
        (0, 0, 0, 0.5, 0.5), (2, 0, 0, 1, 1), (-1, 0, 0, 1, 1), (1, 0.2, 0.2, 1, 1)])),
    ("named_layout_is_inert", G((1, 2, 6, 5), (2, 2), count=2, layout=2)),
]
F16, F32 = ("float16", NONE), ("float32", NONE)
U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
I16D, I8D = ("int16", fixed_point(8)), ("int8", fixed_point(4))
I16 = ("int16", per_tensor(0.0005, 300))
TYPED = [
    ("f16", F16, F16, F16), ("u8", U8, F32, U8), ("i8", I8, F16, I8), ("i8d", I8D, F32, I8D),
    ("i16", I16, F32, I16), ("i16d", I16D, I16D, I16D),
    ("u8_rois_u16", U8, ("uint16", per_tensor(0.125, 0)), U8),
    ("u8_requantized", U8, F32, ("uint8", per_tensor(0.037, 90))),
    ("u8_to_f32", U8, F32, F32), ("f32_to_u8", F32, F32, U8),
]


def main():
    suite = Suite(__file__, onnxruntime)
    for name, geometry in MANY + MORE:
        suite.add(f"f32_{name}", lambda rng: case_of(rng, geometry, F32, F32, F32))
    for type_name, features, rois, out in TYPED:
        for name, geometry in MANY:
            suite.add(f"{type_name}_{name}",
                      lambda rng: case_of(rng, geometry, features, rois, out))
    suite.add("f32_all_negative", lambda rng: case_of(
        rng, MANY[1][1], F32, F32, F32, negative=True))
    suite.write()


if __name__ == "__main__":
    main()
