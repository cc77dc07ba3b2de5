"""Goldens of MaxpoolGrad. Oracle: the definition in NumPy; PyTorch's gradient of
max_pool2d where the padding is even and the rounding floor."""

import os
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import oracle
from golden_format import (NONE, Case, Suite, close, fixed_point, per_tensor, random_tensor,
                           store)
from max_windows import AUTO, CEILING, FLOOR, SAME, VALID, Window, greatest

W = Window


def check(x, gradient, window, expected):
    axes = window.axes(x.shape)
    if any(a[2] != a[3] or 2 * a[2] > a[0] for a in axes) or window.rounding == CEILING:
        return
    if any((a[4] - 1) * a[1] + a[0] > e + 2 * a[2] for a, e in zip(axes, x.shape[-2:])):
        return
    cells = torch.from_numpy(x.astype(np.float64)).requires_grad_()
    pooled = torch.nn.functional.max_pool2d(
        cells, [a[0] for a in axes], [a[1] for a in axes], [a[2] for a in axes])
    pooled.backward(torch.from_numpy(gradient.reshape(pooled.shape)))
    oracle.require_close(cells.grad.numpy(), expected, "PyTorch", 1e-12)


def case_of(rng, window, shape, kinds, equal=False):
    """kinds: types of what was pooled, of the gradient, of the result."""
    x = random_tensor(rng, kinds[0][0], shape, kinds[0][1])
    if equal:
        x.array = rng.integers(0, 2, shape).astype(x.array.dtype)
    cells, _ = greatest(x.array, window)
    gradient = random_tensor(rng, kinds[1][0], cells.shape, kinds[1][1])
    if kinds[1][0] == "float32" and kinds[2][0] != "float32":
        gradient.array = (rng.integers(-64, 65, cells.shape) / 32).astype(np.float32)
    real = np.zeros(x.array.size)
    inside = cells.reshape(-1) >= 0
    np.add.at(real, cells.reshape(-1)[inside], gradient.real().reshape(-1)[inside])
    real = real.reshape(shape)
    if not equal:
        check(x.array, gradient.real(), window, real)
    size = np.abs(gradient.real()).max() * 9
    return Case("tim.MaxpoolGrad", window.attributes(), [x, gradient],
                store(real, *kinds[2], magnitude=np.full(shape, size)), close(2e-7 * size))


IMAGES = [
    ("3x2_no_overlap", (1, 2, 4, 6), W((3, 2), (3, 2), VALID)),
    ("3x2_s2_overlap", (2, 2, 6, 7), W((3, 2), (2, 2), VALID)),
    ("3x3_s1_overlap", (1, 2, 5, 6), W((3, 3), (1, 1), VALID)),
    ("3x3_s2_same", (1, 2, 6, 5), W((3, 3), (2, 2), SAME)),
    ("pads", (1, 3, 6, 7), W((3, 3), (2, 2), AUTO, (1, 1, 1, 1))),
    ("uneven_pads", (1, 3, 6, 7), W((3, 3), (2, 2), AUTO, (0, 1, 2, 1))),
    ("ceil", (1, 2, 6, 6), W((3, 3), (2, 2), AUTO, None, CEILING)),
    ("stride_beyond_kernel", (1, 2, 9, 10), W((2, 2), (4, 3), VALID)),
    ("rank_3", (3, 4, 4), W((2, 2), (2, 2), VALID)),
    ("channels_33", (1, 33, 4, 4), W((2, 2), (1, 1), VALID)),
    ("1x1", (1, 1, 1, 1), W((1, 1), (1, 1))),
    ("same_1x1_s2", (1, 2, 5, 5), W((1, 1), (2, 2), SAME)),
]
F16, F32 = ("float16", NONE), ("float32", NONE)
U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
I8D, I16D = ("int8", fixed_point(4)), ("int16", fixed_point(8))
I16 = ("int16", per_tensor(0.0005, 300))
TYPED = [
    ("f16", (F16, F16, F16)), ("u8_f32", (U8, F32, F32)),
    ("u8", (U8, U8, ("uint8", per_tensor(0.13, 120)))),
    ("i8", (I8, I8, ("int8", per_tensor(0.11, 3)))),
    ("i8d", (I8D, I8D, I8D)), ("i16d", (I16D, I16D, I16D)),
    ("i16", (I16, I16, ("int16", per_tensor(0.0011, -3)))),
    ("f32_to_f16", (F32, F32, F16)), ("f32_i8_to_f32", (F32, I8, F32)),
    ("f32_u8_to_i8", (F32, U8, ("int8", per_tensor(0.17, 3)))),
]


def main():
    suite = Suite(__file__, torch)
    for name, shape, window in IMAGES:
        suite.add(f"f32_{name}", lambda rng: case_of(rng, window, shape, (F32, F32, F32)))
    for type_name, kinds in TYPED:
        for name, shape, window in IMAGES[:6]:
            suite.add(f"{type_name}_{name}", lambda rng: case_of(rng, window, shape, kinds))
    suite.add("f32_equal_cells", lambda rng: case_of(
        rng, IMAGES[2][2], IMAGES[2][1], (F32, F32, F32), equal=True))
    suite.add("u8_equal_cells", lambda rng: case_of(
        rng, IMAGES[2][2], IMAGES[2][1], (U8, F32, F32), equal=True))
    suite.write()


if __name__ == "__main__":
    main()
