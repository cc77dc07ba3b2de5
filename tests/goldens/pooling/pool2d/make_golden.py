"""Goldens of Pool2d. Oracles: ONNX Runtime's MaxPool, AveragePool and LpPool
where they have the window; NumPy in float64 and int64."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, TYPES, Case, Suite, Tensor, close, fixed_point,
                           is_float, per_tensor, random_tensor, store)

NO_PAD, AUTO, VALID, SAME = -1, 0, 1, 2
MAX, AVG, L2, AVG_ANDROID, AVG_PADDED = 0, 1, 2, 3, 4
NAMES = {MAX: "max", AVG: "avg", L2: "l2", AVG_ANDROID: "avg_android"}
CEILING, FLOOR = 0, 1


class Window:
    def __init__(self, ksize=(1, 1), stride=(1, 1), padding=AUTO, pad=(0, 0, 0, 0),
                 rounding=FLOOR, mode="window", output_size=None, **extra):
        self.ksize, self.stride, self.padding, self.pad = ksize, stride, padding, pad
        self.rounding, self.mode, self.output_size = rounding, mode, output_size
        self.extra = extra

    def attributes(self, kind, extents):
        attributes = {"type": kind, "mode": self.mode, **self.extra}
        if self.mode == "window":
            attributes |= {"padding": self.padding, "pad": list(self.pad),
                           "ksize": list(self.ksize), "stride": list(self.stride)}
        else:
            attributes["input_size"] = list(extents)
        if self.mode == "adaptive":
            attributes["output_size"] = list(self.output_size)
        if self.rounding == CEILING:
            attributes["round_type"] = CEILING
        return attributes

    def axis(self, i, extent):
        """(kernel, stride, front pad, back pad, outputs) along axis i."""
        if self.mode == "global":
            return extent, extent, 0, 0, 1
        if self.mode == "adaptive":
            out = self.output_size[i]
            stride = extent // out
            return extent - (out - 1) * stride, stride, 0, 0, out
        k, stride = self.ksize[i], self.stride[i] or 1
        if self.padding == SAME:
            out = -(-extent // stride)
            total = max((out - 1) * stride + k - extent, 0)
            return k, stride, total // 2, total - total // 2, out
        front, back = (0, 0) if self.padding == VALID else self.pad[2 * i:2 * i + 2]
        steps = extent + front + back - k
        out = (-(-steps // stride) if self.rounding == CEILING else steps // stride) + 1
        return k, stride, front, back, out


def windows(x, window, extents=None):
    """Yields (row, column, cells in the image [N, C, count], kernel size, number of
    cells in the padded image)."""
    kw, sw, left, right, out_w = window.axis(0, x.shape[3])
    kh, sh, top, bottom, out_h = window.axis(1, x.shape[2])
    if extents:
        out_w, out_h = extents
    for row, col in np.ndindex(out_h, out_w):
        y, x0 = row * sh - top, col * sw - left
        cells = x[:, :, max(y, 0):max(y + kh, 0), max(x0, 0):max(x0 + kw, 0)]
        padded = (min(y + kh, x.shape[2] + bottom) - y) * (min(x0 + kw, x.shape[3] + right) - x0)
        yield row, col, cells.reshape(*x.shape[:2], -1), kw * kh, padded


def pool(x, kind, window, least, extents=None):
    """float64 (exact integers for MAX) result of array `x`."""
    shape = extents[::-1] if extents else tuple(
        window.axis(i, x.shape[3 - i])[4] for i in (1, 0))
    out = np.zeros(x.shape[:2] + shape, x.dtype if kind == MAX else np.float64)
    for row, col, cells, size, padded in windows(x, window, extents):
        count = cells.shape[2]
        if kind == MAX:
            value = cells.max(axis=2) if count else least
        elif kind == AVG:
            value = cells.sum(axis=2) / size
        elif kind == AVG_PADDED:
            value = cells.sum(axis=2) / padded
        elif kind == AVG_ANDROID:
            value = cells.mean(axis=2)
        else:
            value = np.sqrt((cells.astype(np.float64) ** 2).mean(axis=2))
        out[:, :, row, col] = value
    return out


def check_with_onnx(x, kind, window, expected, absolute):
    """float32 reference; ORT refuses pads as large as the kernel, and clips
    windows that start in the padding, so those are NumPy's alone."""
    geometry = [window.axis(i, x.shape[3 - i]) for i in (1, 0)]
    pads = [g[2] for g in geometry] + [g[3] for g in geometry]
    ends = [(g[4] - 1) * g[1] + g[0] - extent - g[2] - g[3]
            for g, extent in zip(geometry, x.shape[2:])]
    if (max(ends) > 0 and kind != AVG_PADDED) or any(p >= g[0] for p, g in zip(pads, geometry * 2)):
        return
    attributes = {"kernel_shape": [g[0] for g in geometry], "pads": pads,
                  "strides": [g[1] for g in geometry]}
    op, scale = "MaxPool", 1.0
    if kind in (AVG, AVG_ANDROID, AVG_PADDED):
        op, attributes["count_include_pad"] = "AveragePool", int(kind != AVG_ANDROID)
        attributes["ceil_mode"] = int(max(ends) > 0)
    elif kind == L2:
        if any(pads):
            return
        op, scale = "LpPool", (geometry[0][0] * geometry[1][0]) ** -0.5
    found = oracle.run_onnx(op, [x.astype(np.float32)], **attributes) * scale
    oracle.require_close(found, expected, "ORT " + op, absolute)


def case_of(rng, kind, window, shape, dtype, quant=NONE, out=None, negative=False,
            extents=None):
    x = random_tensor(rng, dtype, shape, quant)
    if negative:
        x.array = make_negative(x)
    out_type, out_quant = out or (dtype, quant)
    moves = kind == MAX and (out_type, out_quant.text()) == (dtype, quant.text())
    sizes = (shape[3], shape[2])
    if moves:  # a maximum is one of the codes
        least = TYPES[dtype][1] if not is_float(dtype) else None
        y = Tensor(dtype, pool(x.array, kind, window, least, extents), quant)
        real = y.real()
    else:
        real = pool(x.real(), kind, window, None, extents)
        size = np.abs(x.real()).max()
        y = store(real, out_type, out_quant, magnitude=np.full(real.shape, size), error=2e-7)
    if extents is None:
        check_with_onnx(x.real(), kind, window, real, 2e-6 * max(1, np.abs(x.real()).max()))
    tolerance = EXACT
    if out_type == "float32" and kind != MAX:
        tolerance = close(1e-6 * np.abs(x.real()).max())  # rounding of a float32 sum
    if extents:
        y = y.declared()
    return Case("tim.Pool2d", window.attributes(kind, sizes), [x], y, tolerance)


def make_negative(x):
    """Every real value below 0, so that padding with 0 would win a maximum."""
    if is_float(x.dtype):
        return (-np.abs(x.array) - x.array.dtype.type(0.5)).astype(x.array.dtype)
    low, zero = TYPES[x.dtype][1], x.quant.zero()
    return (low + (x.array.astype(int) - low) % (zero - low)).astype(x.array.dtype)


W = Window
# name, shape [N,C,H,W], window
WINDOWS = [
    ("1x1", (1, 1, 1, 1), W()),
    ("2x2_s2", (1, 3, 6, 8), W((2, 2), (2, 2))),
    ("3x2_s2_1", (2, 5, 7, 9), W((3, 2), (2, 1))),
    ("3x3_s2_valid", (1, 17, 7, 7), W((3, 3), (2, 2), VALID, (1, 1, 1, 1))),
    ("3x3_s1_same", (1, 2, 5, 6), W((3, 3), (1, 1), SAME)),
    ("2x4_s2_3_same", (1, 2, 7, 8), W((2, 4), (2, 3), SAME)),
    ("4x4_s1_same_discards_pad", (1, 2, 5, 5), W((4, 4), (1, 1), SAME, (3, 0, 3, 0))),
    ("none_acts_as_auto", (1, 2, 5, 5), W((3, 3), (2, 2), NO_PAD, (1, 1, 0, 1))),
    ("asymmetric_pads", (1, 3, 6, 7), W((3, 3), (2, 2), AUTO, (0, 1, 2, 1))),
    ("named_layout_is_inert", (1, 2, 6, 5), W((3, 2), (2, 2), layout=2)),
    ("floor", (1, 2, 7, 8), W((3, 3), (2, 2))),
    ("ceil", (1, 2, 8, 6), W((3, 3), (2, 2), rounding=CEILING)),
    ("ceil_asymmetric", (1, 2, 6, 6), W((3, 3), (2, 2), AUTO, (0, 1, 0, 1), CEILING)),
    ("ceil_partly_outside", (1, 2, 9, 8), W((4, 3), (3, 4), AUTO, (1, 0, 0, 1), CEILING)),
    ("kernel_is_input", (2, 3, 5, 4), W((4, 5), (1, 1), VALID)),
    ("stride_0_kernel_is_input", (1, 3, 5, 4), W((4, 5), (0, 0), VALID)),
    ("kernel_larger_than_input", (1, 2, 3, 4), W((9, 7), (1, 1), SAME)),
    ("kernel_35_pad_30", (1, 1, 5, 6), W((35, 3), (1, 2), AUTO, (30, 30, 1, 1))),
    ("stride_beyond_kernel", (1, 2, 9, 10), W((2, 2), (4, 3))),
    ("row_33", (1, 3, 1, 33), W((3, 1), (2, 1), AUTO, (1, 1, 0, 0))),
    ("column_31", (1, 3, 31, 1), W((1, 5), (1, 3), AUTO, (0, 0, 2, 2))),
    ("channels_32_batch_2", (2, 32, 3, 3), W((2, 2), (1, 1))),
    ("global", (2, 33, 5, 4), W(mode="global")),
    ("global_1x1", (1, 5, 1, 1), W(mode="global")),
    ("adaptive_3x2", (1, 3, 7, 11), W(mode="adaptive", output_size=(3, 2))),
    ("adaptive_exact", (1, 3, 6, 8), W(mode="adaptive", output_size=(4, 3))),
    ("adaptive_1x1", (1, 3, 5, 7), W(mode="adaptive", output_size=(1, 1))),
    ("adaptive_same", (1, 2, 5, 4), W(mode="adaptive", output_size=(4, 5))),
]
FEW = ("2x2_s2", "2x4_s2_3_same", "asymmetric_pads", "ceil_asymmetric", "global",
       "adaptive_3x2", "kernel_larger_than_input")
OTHER = ("2x4_s2_3_same", "ceil_asymmetric")

U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
I16 = ("int16", per_tensor(0.0005, 300))
I8D, I16D = ("int8", fixed_point(4)), ("int16", fixed_point(8))
F16, F32 = ("float16", NONE), ("float32", NONE)
# input, output
MAIN = [("f16", F16, F16), ("u8", U8, U8), ("i8", I8, I8),
        ("u8_requantized", U8, ("uint8", per_tensor(0.037, 90))),
        ("i8_requantized", I8, ("int8", per_tensor(0.047, 4)))]
MORE = [("i8d", I8D, I8D), ("i16", I16, I16), ("i16d", I16D, I16D),
        ("i8d_requantized", I8D, ("int8", fixed_point(5))),
        ("i16_requantized", I16, ("int16", per_tensor(0.0007, -20))),
        ("i16d_requantized", I16D, ("int16", fixed_point(9))),
        ("u8_to_f16", U8, F16), ("f16_to_u8", F16, ("uint8", per_tensor(0.037, 90))),
        ("i8_to_f16", I8, F16), ("f16_to_i8", F16, ("int8", per_tensor(0.047, 4))),
        ("f16_to_i16", F16, ("int16", per_tensor(0.003, 9)))]
# Of AVG_PADDED; with equal scales every second sum of an even count is a tie.
PADDED = ("2x4_s2_3_same", "asymmetric_pads", "ceil", "ceil_asymmetric", "ceil_partly_outside",
          "global")
PADDED_TYPES = [("f32", F32, F32)] + [types for types in MAIN + MORE[3:7]
                                      if types[1] != types[2] or types[0] == "f16"]


def add_all(suite):
    for name, shape, window in WINDOWS:
        for kind in NAMES:
            suite.add(f"f32_{NAMES[kind]}_{name}", lambda rng: case_of(
                rng, kind, window, shape, "float32"))
    for types in (MAIN, MORE):
        names = (FEW if types is MAIN else OTHER) + ("floor",)
        for type_name, x, out in types:
            for name, shape, window in WINDOWS:
                if name in names:
                    add_kinds(suite, type_name, name, x, out, shape, window)


def add_kinds(suite, type_name, name, x, out, shape, window):
    """Averages whose scales differ by a power of two have a tie in every second
    sum of an even count: only windows of nine cells, where none is near."""
    power = not is_float(x[0]) and not is_float(out[0]) and np.log2(
        x[1].scale() / out[1].scale()) % 1 == 0
    for kind in NAMES:
        if not power or kind in (MAX, L2) or name == "floor":
            suite.add(f"{type_name}_{NAMES[kind]}_{name}", lambda rng: case_of(
                rng, kind, window, shape, *x, out))


def add_corners(suite):
    padded = W((3, 3), (2, 2), AUTO, (0, 1, 0, 1), CEILING)
    for name, x in (("f32", F32), ("f16", F16), ("u8", U8), ("i8", I8), ("i16d", I16D)):
        suite.add(f"{name}_max_all_negative", lambda rng: case_of(
            rng, MAX, padded, (1, 3, 6, 6), *x, negative=True))
    # Windows wholly in the padding: an average is 0, a maximum the least code.
    outside = W((2, 2), (2, 2), AUTO, (3, 2, 2, 3))
    suite.add("f32_avg_window_in_padding", lambda rng: case_of(
        rng, AVG, outside, (1, 2, 3, 3), *F32))
    suite.add("u8_avg_window_in_padding", lambda rng: case_of(
        rng, AVG, outside, (1, 2, 3, 3), *U8, ("uint8", per_tensor(0.037, 90))))
    suite.add("u8_max_window_in_padding", lambda rng: case_of(
        rng, MAX, outside, (1, 2, 3, 3), *U8))
    # A declared extent beyond the rule: reads outside are padding.
    for kind in (MAX, AVG, AVG_ANDROID):
        suite.add(f"f32_{NAMES[kind]}_declared_larger", lambda rng: case_of(
            rng, kind, W((3, 3), (2, 2)), (1, 2, 6, 8), *F32, extents=(4, 3)))
    # Windows that reach beyond the padding.
    for name, shape, window in WINDOWS:
        if name not in PADDED:
            continue
        for types in PADDED_TYPES if window.rounding == CEILING else PADDED_TYPES[:1]:
            suite.add(f"{types[0]}_avg_padded_{name}", lambda rng: case_of(
                rng, AVG_PADDED, window, shape, *types[1], types[2]))
    suite.add("f32_max_infinities", infinities)
    suite.add("u8_avg_ties_to_even", average_ties)
    suite.add("i8_avg_ties_to_even", lambda rng: average_ties(rng, "int8", -7))


def infinities(rng):
    x = random_tensor(rng, "float32", (1, 2, 4, 4))
    x.array[0, 0, :2] = -np.inf
    x.array[0, 1, 0, 0] = np.inf
    window = W((2, 2), (2, 2))
    y = Tensor("float32", pool(x.array, MAX, window, None))
    return Case("tim.Pool2d", window.attributes(MAX, (4, 4)), [x], y)


def average_ties(rng, dtype="uint8", zero=121):
    """Four cells, equal scales of 2^-3: every step is exact in float32, whether
    the mean is a division or a multiplication by 1/4; half the sums are ties."""
    x = random_tensor(rng, dtype, (1, 3, 6, 8), per_tensor(0.125, zero))
    window = W((2, 2), (2, 2))
    units = pool(x.centered(), AVG, window, None) + zero
    assert np.mean(units % 1 == 0.5) > 0.15
    y = Tensor(dtype, np.rint(units).astype(int), x.quant)
    return Case("tim.Pool2d", window.attributes(AVG, (8, 6)), [x], y)


def main():
    suite = Suite(__file__, onnxruntime)
    add_all(suite)
    add_corners(suite)
    suite.write()


if __name__ == "__main__":
    main()
