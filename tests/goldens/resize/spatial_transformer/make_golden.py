"""Goldens of SpatialTransformer. Oracle: coordinates in float32 as the operator's
page orders them, sampled by PyTorch's grid_sample (zeros, bilinear) in float64;
results at negative coordinates are 0."""

import os
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import (NONE, Case, Suite, Tensor, close, fixed_point, is_float, per_tensor,
                           random_tensor, store)

F = np.float32
NAMES = ["theta_1_1", "theta_1_2", "theta_1_3", "theta_2_1", "theta_2_2", "theta_2_3"]


def units(size, align):
    divisor = F(size - 1 if align and size > 1 else size)
    return F(2) * np.arange(size, dtype=F) / divisor - F(1)


def coordinates(theta, size, extents, align):
    """float32 (in_y, in_x) [oh, ow]; pairs {H, W}."""
    v, u = units(size[0], align)[:, None], units(size[1], align)[None]
    out = []
    for row, extent in zip((theta[:3], theta[3:]), extents):
        s = F(row[0]) * v + F(row[1]) * u + F(row[2])
        out.append((s + F(1)) * F(0.5) * F(extent))
        assert out[-1].dtype == F
    return out


def transform(x, thetas, size, align):
    """float64 [N, C, H, W] sampled; thetas [N, 6]."""
    outs = []
    h, w = x.shape[2:]
    # One more row and column of zeros, so that there are at least two.
    padded = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)))
    for image, theta in zip(padded, thetas):
        in_y, in_x = coordinates(theta, size, (h, w), align)
        grid = np.stack([2 * in_x.astype(np.float64) / w - 1,
                         2 * in_y.astype(np.float64) / h - 1], axis=-1)
        found = torch.nn.functional.grid_sample(
            torch.from_numpy(image[None]), torch.from_numpy(grid[None]), mode="bilinear",
            padding_mode="zeros", align_corners=True).numpy()[0]
        outs.append(np.where((in_y >= 0) & (in_x >= 0), found, 0))
    return np.stack(outs)


class Geometry:
    """thetas: a list of six per batch (or one for all); constant: names."""

    def __init__(self, shape, thetas, size=(0, 0), constant=(), align=False):
        self.shape, self.thetas, self.size = shape, np.array(thetas, float), size
        self.constant, self.align = constant, align

    def attributes(self):
        out = {"output_h": self.size[0], "output_w": self.size[1], "align_corners": self.align}
        for k, name in enumerate(NAMES):
            if name in self.constant:
                out |= {"has_" + name: True, name: float(F(self.thetas[0][k]))}
        return out


def case_of(rng, geometry, image, theta, out, slack=0.0):
    x = random_tensor(rng, image[0], geometry.shape, image[1])
    variable = [k for k, name in enumerate(NAMES) if name not in geometry.constant]
    numbers = np.tile(geometry.thetas.astype(F), (1, 1))
    inputs = [x]
    if variable:
        chosen = geometry.thetas[:, variable]
        if is_float(theta[0]):
            tensor = Tensor(theta[0], chosen.astype(theta[0]))
        else:
            codes = np.rint(chosen / theta[1].scale() + theta[1].zero()).astype(int)
            tensor = Tensor(theta[0], codes, theta[1])
        numbers[:, variable] = tensor.real().astype(F)
        inputs.append(tensor)
    thetas = np.broadcast_to(numbers, (geometry.shape[0], 6))
    size = tuple(s or e for s, e in zip(geometry.size, geometry.shape[2:]))
    real = transform(x.real(), thetas, size, geometry.align)
    largest = np.abs(x.real()).max()
    y = store(real, *out, magnitude=np.full(real.shape, largest))
    return Case("tim.SpatialTransformer", geometry.attributes(), inputs, y,
                close(2e-6 * largest if out[0] == "float32" else 0))


G = Geometry
SAME = [1, 0, 0, 0, 1, 0]
TURN = [0.8, 0.55, 0.1, -0.6, 0.75, -0.05]
ZOOM = [0.45, 0, 0.13, 0, 0.37, -0.21]
FEW = [
    ("turn", G((1, 2, 5, 6), [TURN])),
    ("zoom_to_4x7", G((2, 1, 6, 5), [ZOOM, TURN], (4, 7))),
]
MANY = [
    ("identity", G((1, 2, 4, 5), [SAME])),
    ("identity_align", G((1, 2, 4, 5), [SAME], align=True)),
    ("turn_align_8x9", G((1, 3, 5, 6), [TURN], (8, 9), align=True)),
    ("of_each_batch", G((3, 2, 5, 4), [TURN, ZOOM, SAME])),
    ("of_all_batches", G((3, 2, 5, 4), [TURN])),
    ("constants", G((2, 2, 5, 4), [TURN], (3, 0), constant=NAMES)),
    ("some_constants", G((2, 2, 5, 4), [TURN], (0, 7), constant=NAMES[1:4:2] + NAMES[5:])),
    ("constants_and_batches", G((2, 1, 5, 4), [TURN, [0.8, 0.55, 0.4, 0.3, 0.75, -0.05]],
                                constant=[NAMES[0], NAMES[1], NAMES[4], NAMES[5]])),
    ("outside", G((1, 1, 4, 4), [[1, 0, 3, 0, 1, 0]])),
    ("to_1x1_align", G((1, 2, 4, 4), [TURN], (1, 1), align=True)),
    ("from_1x1", G((1, 2, 1, 1), [TURN], (3, 4))),
    ("channels_33", G((1, 33, 4, 3), [TURN])),
]
F16, F32 = ("float16", NONE), ("float32", NONE)
U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
I16, I16D, I8D = ("int16", per_tensor(0.0005, 300)), ("int16", fixed_point(8)), ("int8", fixed_point(4))
THETA_I8, THETA_I16D = ("int8", per_tensor(0.0123, 3)), ("int16", fixed_point(12))
TYPED = [
    ("f16", F16, F16, F16), ("u8", U8, F32, U8), ("i8", I8, F32, I8), ("i8d", I8D, I8D, I8D),
    ("i16d", I16D, THETA_I16D, I16D), ("i16", I16, F32, I16), ("u8_theta_i8", U8, THETA_I8, U8),
    ("u8_requantized", U8, F32, ("uint8", per_tensor(0.037, 90))), ("u8_to_f16", U8, F16, F16),
    ("f32_to_u8", F32, F32, U8), ("u8_to_f32", U8, F32, F32),
]


def main():
    suite = Suite(__file__, torch)
    for name, geometry in FEW + MANY:
        suite.add(f"f32_{name}", lambda rng: case_of(rng, geometry, F32, F32, F32))
    for type_name, image, theta, out in TYPED:
        for name, geometry in FEW:
            suite.add(f"{type_name}_{name}",
                      lambda rng: case_of(rng, geometry, image, theta, out))
    suite.write()


if __name__ == "__main__":
    main()
