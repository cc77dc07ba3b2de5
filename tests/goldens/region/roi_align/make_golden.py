"""Goldens of RoiAlign. Oracle: coordinates in float32 as the operator's page
orders them, blended by NumPy in float64. ONNX Runtime's RoiAlign
(output_half_pixel, avg) has the float32 cases whose samples are all inside."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (NONE, TYPES, Case, Suite, Tensor, close, fixed_point, is_float,
                           per_tensor, random_tensor, store)

F = np.float32


def samples_of(low, high, ratio, bins, samples):
    """Positions [bin, sample]."""
    first = F(low) / F(ratio)
    length = max(F(high) / F(ratio) - first, F(1))
    size = length / F(bins)
    count = samples if samples > 0 else max(1, int(np.ceil(size - F(1e-5))))
    start = first + np.arange(bins, dtype=F) * size
    steps = (np.arange(count, dtype=F) + F(0.5)) * size / F(count)
    out = start[:, None] + steps[None]
    assert out.dtype == F
    return out


def neighbours(at, extent):
    """(lower, upper, weight of upper) of a sample inside."""
    lower = int(np.trunc(at))
    weight = 0.0 if lower >= extent - 1 else float(at - np.floor(at))
    return min(max(lower, 0), extent - 1), min(max(lower + 1, 0), extent - 1), weight


def inside(at, extent):
    return at[(np.trunc(at) <= extent) & (np.trunc(at) >= -1)]


def mean_of(plane, ys, xs):
    total = 0.0
    for y in inside(ys, plane.shape[1]):
        for x in inside(xs, plane.shape[2]):
            down, across = neighbours(y, plane.shape[1]), neighbours(x, plane.shape[2])
            v, u = down[2], across[2]
            total = total + (plane[:, down[0], across[0]] * (1 - v) * (1 - u)
                             + plane[:, down[0], across[1]] * (1 - v) * u
                             + plane[:, down[1], across[0]] * v * (1 - u)
                             + plane[:, down[1], across[1]] * v * u)
    return total / (len(ys) * len(xs))


def align(features, rois, batches, size, ratios, samples):
    """Arrays [N, C, H, W], [R, 4], [R]; pairs {H, W}. Also whether every sample
    is inside, so that other clamping rules agree."""
    out = np.zeros((len(rois), features.shape[1]) + size)
    all_inside = True
    for r, (roi, batch) in enumerate(zip(rois, batches)):
        if not 0 <= batch < features.shape[0]:
            continue
        ys = samples_of(roi[1], roi[3], ratios[0], size[0], samples[0])
        xs = samples_of(roi[0], roi[2], ratios[1], size[1], samples[1])
        for at, extent in ((ys, features.shape[2]), (xs, features.shape[3])):
            all_inside &= bool(at.min() >= 0 and at.max() <= extent)
        for py, px in np.ndindex(*size):
            out[r, :, py, px] = mean_of(features[batch], ys[py], xs[px])
    return out, all_inside


def check(features, rois, batches, size, ratios, samples, expected):
    absent = (batches < 0) | (batches >= features.shape[0])
    if ratios[0] != ratios[1] or samples[0] != samples[1] or absent.any():
        return False
    found = oracle.run_onnx(
        "RoiAlign", [features, rois.astype(F), batches.astype(np.int64)],
        output_height=size[0], output_width=size[1], sampling_ratio=samples[0],
        spatial_scale=1 / ratios[0], mode="avg",
        coordinate_transformation_mode="output_half_pixel")
    oracle.require_close(found, expected, "ORT RoiAlign", 2e-5)
    return True


class Geometry:
    """features [N, C, H, W]; rois as fractions of the image, or None: random."""

    def __init__(self, shape, size, ratios=(1.0, 1.0), samples=(0, 0), rois=None, batches=None,
                 count=3, **extra):
        self.shape, self.size, self.ratios, self.samples = shape, size, ratios, samples
        self.rois, self.batches, self.count, self.extra = rois, batches, count, extra

    def attributes(self):
        return {"output_height": self.size[0], "output_width": self.size[1],
                "height_ratio": self.ratios[0], "width_ratio": self.ratios[1],
                "height_sample_num": self.samples[0], "width_sample_num": self.samples[1],
                **self.extra}

    def make_rois(self, rng):
        image = np.array([self.shape[3] * self.ratios[1], self.shape[2] * self.ratios[0]] * 2)
        if self.rois is not None:
            return np.array(self.rois) * image
        corners = np.sort(rng.uniform(0, 1, (self.count, 2, 2)), axis=1)
        corners[:, 1] = np.minimum(corners[:, 1] + 0.2, 1)
        return corners.reshape(-1, 4) * image


checked = 0


def case_of(rng, geometry, features, rois, out, batch_type="int32"):
    global checked
    x = random_tensor(rng, features[0], geometry.shape, features[1])
    real_rois = geometry.make_rois(rng)
    if is_float(rois[0]):
        corners = Tensor(rois[0], real_rois.astype(rois[0]))
    else:
        low, high = TYPES[rois[0]][1:]
        codes = np.rint(real_rois / rois[1].scale() + rois[1].zero())
        corners = Tensor(rois[0], np.clip(codes, low, high).astype(int), rois[1])
    batches = geometry.batches
    if batches is None:
        batches = rng.integers(0, geometry.shape[0], len(real_rois))
    batches = np.array(batches)
    real, all_inside = align(x.real(), corners.real().astype(F), batches, geometry.size,
                         geometry.ratios, geometry.samples)
    if all_inside and features[0] == "float32" and rois[0] == "float32":
        checked += check(x.array, corners.array, batches, geometry.size, geometry.ratios,
                         geometry.samples, real)
    size = np.abs(x.real()).max()
    y = store(real, *out, magnitude=np.full(real.shape, size))
    return Case("tim.RoiAlign", geometry.attributes(),
                [x, corners, Tensor(batch_type, batches)], y,
                close(1e-6 * size if out[0] == "float32" else 0))


G = Geometry
MANY = [
    ("2x2", G((1, 1, 4, 4), (2, 2), rois=[(0.1, 0.1, 0.8, 0.9)], batches=[0])),
    ("adaptive", G((2, 3, 12, 10), (3, 2), (2.0, 2.0), count=4)),
    ("two_samples", G((2, 2, 7, 9), (2, 3), (4.0, 4.0), (2, 2))),
    ("two_ratios", G((1, 3, 8, 7), (2, 2), (2.0, 1.5), (2, 3))),
]
FEW = [
    ("2x2", MANY[0][1]),
    ("two_samples", G((2, 1, 5, 6), (2, 1), (4.0, 4.0), (2, 2), count=2)),
]
MORE = [
    ("1x1", G((1, 1, 1, 1), (1, 1), rois=[(0, 0, 1, 1)], batches=[0])),
    ("7x7_of_33_channels", G((1, 33, 9, 9), (7, 7), (16.0, 16.0), (2, 2), count=2)),
    ("small_region_is_one_wide", G((1, 2, 6, 6), (3, 3), rois=[(0.5, 0.5, 0.51, 0.5)],
                                   batches=[0])),
    ("corners_in_reverse", G((1, 2, 6, 6), (2, 2), rois=[(0.8, 0.7, 0.2, 0.1)], batches=[0])),
    ("across_the_border", G((1, 2, 6, 5), (3, 3), (2.0, 2.0), (2, 2), batches=[0, 0, 0, 0],
                            rois=[(-0.5, -0.4, 0.5, 0.6), (0.6, 0.5, 1.6, 1.4),
                                  (-0.3, 0.2, 1.3, 0.7), (-0.2, -0.2, 1.2, 1.2)])),
    ("outside", G((1, 2, 6, 5), (2, 2), samples=(2, 2), batches=[0, 0],
                  rois=[(2, 2, 3, 3), (-3, 0, -2, 1)])),
    ("far_away", G((1, 1, 4, 4), (2, 2), batches=[0, 0],
                   rois=[(-1e6, 0, 1e6, 1), (1e6, 1e6, 3e6, 3e6)])),
    ("batches_that_are_not_there", G((2, 2, 5, 5), (2, 2), count=4, batches=[0, 2, -1, 1])),
    ("one_axis_adaptive", G((1, 2, 9, 9), (2, 3), (1.0, 1.0), (0, 2), count=2)),
    ("named_layout_is_inert", G((1, 2, 6, 5), (2, 2), count=2, layout=2)),
]
F16, F32 = ("float16", NONE), ("float32", NONE)
U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
I16, I16D, I8D = ("int16", per_tensor(0.0005, 300)), ("int16", fixed_point(8)), ("int8", fixed_point(4))
U16_ROIS = ("uint16", per_tensor(0.125, 0))
TYPED = [
    ("f16", F16, F16, F16), ("u8", U8, U16_ROIS, U8), ("i8", I8, U16_ROIS, I8),
    ("u8_requantized", U8, U16_ROIS, ("uint8", per_tensor(0.037, 90))),
    ("u8_rois_f32", U8, F32, U8), ("i16", I16, F32, I16), ("i8d", I8D, F32, I8D),
    ("i16d", I16D, F32, I16D), ("u8_to_f32", U8, F32, F32), ("f32_to_u8", F32, F32, U8),
]


def check_outside():
    """What include/tim/vx/ops/roi_align.h says of ONNX: one sample at a position of
    the row 10 20 30 40."""
    row = np.broadcast_to(np.array([10, 20, 30, 40], F), (1, 1, 4, 4))
    for at, expected in ((-1.5, 0), (-1, 10), (-0.5, 10), (0, 10), (0.25, 12.5), (3, 40),
                         (4, 40), (4.5, 0)):
        found = oracle.run_onnx(
            "RoiAlign", [row, np.array([[at - 0.5, 1, at + 0.5, 2]], F), np.zeros(1, np.int64)],
            output_height=1, output_width=1, sampling_ratio=1, spatial_scale=1.0, mode="avg",
            coordinate_transformation_mode="output_half_pixel")
        assert found[0, 0, 0, 0] == expected, (at, found)


def main():
    suite = Suite(__file__, onnxruntime)
    check_outside()
    for name, geometry in MANY + MORE:
        suite.add(f"f32_{name}", lambda rng: case_of(rng, geometry, F32, F32, F32))
    for type_name, features, rois, out in TYPED:
        # Large tensors of 16 bits have a result near a tie for every seed.
        for name, geometry in FEW if out[0] == "int16" else MANY:
            suite.add(f"{type_name}_{name}",
                      lambda rng: case_of(rng, geometry, features, rois, out))
    suite.add("f32_uint8_batches", lambda rng: case_of(rng, MANY[1][1], F32, F32, F32, "uint8"))
    assert checked >= 4, checked
    suite.write()


if __name__ == "__main__":
    main()
