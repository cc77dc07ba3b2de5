"""Goldens of Resize and Resize1d. Oracle: coordinates in float32 as TFLite's
reference kernels compute them, elements blended by NumPy in float64. The float32
cases are compared with TFLite itself (but those that align corners and have half
pixel centers, which it refuses) and with ONNX Runtime's Resize."""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import onnxruntime
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from golden_format import (EXACT, NONE, TYPES, Case, Suite, Tensor, close, fixed_point,
                           is_float, per_tensor, random_tensor, store, to_codes)

NEAREST, BILINEAR = 0, 1
NAMES = {NEAREST: "nearest", BILINEAR: "bilinear"}
F = np.float32


class Geometry:
    """[N, C, H, W] (Resize1d: [N, C, W]) to `size`, the extents after C."""

    def __init__(self, shape, size, align=False, half=False, onnx=True, **attributes):
        self.shape, self.size, self.align, self.half = shape, size, align, half
        self.onnx, self.extra = onnx, attributes

    def op(self):
        return "tim.Resize1d" if len(self.size) == 1 else "tim.Resize"

    def attributes(self, kind):
        out = {"type": kind, "align_corners": self.align, "half_pixel_centers": self.half}
        if "factor" not in self.extra and "declared" not in self.extra:
            names = ("target_size",) if len(self.size) == 1 else ("target_height", "target_width")
            out |= dict(zip(names, self.size))
        return out | {k: v for k, v in self.extra.items() if k != "declared"}


def sources(kind, extent, size, align, half):
    """(lower, upper, weight of upper) of every position."""
    corners = align and size > 1
    scale = F(extent - 1) / F(size - 1) if corners else F(extent) / F(size)
    center = F(0.5) if half else F(0)
    scaled = (np.arange(size).astype(F) + center) * scale
    assert scaled.dtype == F
    last = extent - 1
    if kind == NEAREST:
        index = np.trunc(scaled + F(0.5) if align else scaled).astype(int)
        index = np.clip(index, 0, last)
        return index, index, np.zeros(size)
    position = scaled - center
    floor = np.floor(position)
    lower = floor.astype(int)
    weight = (position - floor).astype(np.float64)
    return np.clip(lower, 0, last), np.clip(lower + 1, 0, last), weight


def resample(x, kind, geometry):
    """Of an array whose last axes are resized; float64 where it blends."""
    if x.shape[2:] == tuple(geometry.size):
        return x
    for axis, size in enumerate(geometry.size, 2):
        lower, upper, weight = sources(kind, x.shape[axis], size, geometry.align, geometry.half)
        low = np.take(x, lower, axis)
        if kind == BILINEAR:
            weight = weight.reshape([-1] + [1] * (x.ndim - 1 - axis))
            x = low * (1 - weight) + np.take(x, upper, axis) * weight
        else:
            x = low
    return x


def run_tflite(x, kind, geometry):
    """[N, C, H, W] through the reference kernel."""
    resize = (tf.compat.v1.image.resize_bilinear if kind == BILINEAR
              else tf.compat.v1.image.resize_nearest_neighbor)
    images = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    size = geometry.size if len(geometry.size) == 2 else (1,) + tuple(geometry.size)
    function = tf.function(lambda a: resize(a, size, align_corners=geometry.align,
                                            half_pixel_centers=geometry.half))
    concrete = function.get_concrete_function(tf.TensorSpec(images.shape, images.dtype))
    model = tf.lite.TFLiteConverter.from_concrete_functions([concrete], function).convert()
    interpreter = tf.lite.Interpreter(
        model_content=model,
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], images)
    interpreter.invoke()
    found = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return found.transpose(0, 3, 1, 2)


def run_onnx(x, kind, geometry):
    mode = ("align_corners" if geometry.align
            else "half_pixel" if geometry.half else "asymmetric")
    size = geometry.size if len(geometry.size) == 2 else (1,) + tuple(geometry.size)
    nearest = ("round_prefer_ceil" if geometry.align or geometry.half else "floor")
    return oracle.run_onnx(
        "Resize", [x, None, None, np.array(x.shape[:2] + tuple(size), np.int64)],
        mode="linear" if kind == BILINEAR else "nearest",
        coordinate_transformation_mode=mode, nearest_mode=nearest)


def check(x, kind, geometry, expected):
    if geometry.align and geometry.half:
        return
    if x.shape[2:] == tuple(geometry.size):
        return
    if x.ndim == 3:
        x, expected = x[:, :, None], expected[:, :, None]
    allowed = 0 if kind == NEAREST else 2e-6 * np.abs(x).max()
    oracle.require_close(run_tflite(x, kind, geometry), expected, "TFLite", allowed)
    # With one position, align_corners of ONNX takes the first element; its
    # coordinates are rounded in another way.
    if not geometry.onnx or (geometry.align and 1 in geometry.size):
        return
    oracle.require_close(run_onnx(x, kind, geometry), expected, "ORT", allowed)


def case_of(rng, kind, geometry, dtype, quant=NONE, out=None, **rounding):
    x = random_tensor(rng, dtype, geometry.shape, quant)
    out_type, out_quant = out or (dtype, quant)
    same = (out_type, out_quant.text()) == (dtype, quant.text())
    copies = kind == NEAREST or x.array.shape[2:] == tuple(geometry.size)
    tolerance = EXACT
    if same and copies:
        y = Tensor(dtype, resample(x.array, kind, geometry), quant)
    else:
        real = resample(x.real(), kind, geometry)
        size = np.abs(x.real()).max()
        y = store(real, out_type, out_quant, magnitude=np.full(real.shape, size), **rounding)
        if out_type == "float32" and not copies:
            tolerance = close(1e-6 * size)  # a float32 sum of four products
        if out_type == "float32" and copies:
            tolerance = close(0, 1e-7)  # one rounded product
    if dtype == out_type == "float32":
        check(x.array, kind, geometry, resample(x.array.astype(np.float64), kind, geometry))
    if "declared" in geometry.extra:
        y = y.declared()
    return Case(geometry.op(), geometry.attributes(kind), [x], y, tolerance)


G = Geometry
# Weights have odd denominators, so that no result of equal quantizations is a
# tie; those of the first two are thirds, far enough from one for 16 bits.
MANY = [
    ("up_align", G((1, 3, 3, 5), (4, 7), align=True)),
    ("row_up_align", G((2, 3, 5), (7,), align=True)),
    ("up_half", G((1, 17, 3, 5), (5, 7), half=True)),
    ("up", G((1, 17, 3, 5), (5, 7))),
    ("down_half", G((2, 16, 7, 9), (3, 5), half=True)),
    ("row_down_half", G((2, 17, 9), (5,), half=True)),
    ("row_factor_0_6", G((1, 2, 4), (2,), factor=0.6)),
]
# float32 alone.
MORE = [
    ("3x3_to_2x2_align", G((1, 1, 3, 3), (2, 2), align=True)),
    ("1x1", G((1, 1, 1, 1), (1, 1))),
    ("from_one", G((1, 3, 1, 1), (3, 4), half=True)),
    ("to_one_align", G((1, 2, 5, 4), (1, 1), align=True)),
    ("to_row_align", G((1, 2, 5, 4), (1, 7), align=True)),
    ("both_flags", G((1, 3, 5, 4), (7, 9), align=True, half=True)),
    ("both_flags_same_size", G((1, 3, 5, 4), (5, 4), align=True, half=True)),
    ("same_width", G((1, 3, 5, 4), (8, 4), half=True)),
    ("same_size", G((1, 3, 5, 4), (5, 4), half=True)),
    ("twice_half", G((1, 33, 6, 5), (12, 10), half=True)),
    ("twice_align", G((1, 2, 6, 5), (12, 10), align=True)),
    ("half_size", G((1, 2, 6, 8), (3, 4))),
    ("half_size_half", G((1, 2, 6, 8), (3, 4), half=True)),
    ("row_33_to_64", G((1, 2, 1, 33), (1, 64), half=True)),
    ("column_31_to_16", G((1, 2, 31, 1), (16, 1), align=True)),
    ("batch_2_channels_33", G((2, 33, 4, 3), (3, 5))),
    ("named_layout_is_inert", G((1, 2, 4, 3), (3, 5), layout=2)),
    ("factor_1_8_not_targets", G((1, 2, 5, 5), (9, 9), factor=1.8, target_height=3,
                                 target_width=3)),
    ("factor_2_5_scale_of_sizes", G((1, 2, 3, 5), (7, 12), factor=2.5)),
    ("declared_size_rules", G((1, 2, 3, 5), (4, 7), factor=2.0, declared=True)),
    ("no_size_but_declared", G((1, 2, 3, 5), (4, 7), align=True, declared=True)),
    ("row_half_33_to_16", G((1, 3, 33), (16,), half=True)),
    ("row_both_flags", G((1, 3, 5), (9,), align=True, half=True)),
    ("row_same_size", G((1, 3, 5), (5,), align=True, half=True)),
    ("row_declared", G((1, 3, 5), (8,), factor=2.0, declared=True)),
]

U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
I16 = ("int16", per_tensor(0.0005, 300))
I8D, I16D = ("int8", fixed_point(4)), ("int16", fixed_point(8))
F16, F32 = ("float16", NONE), ("float32", NONE)
# name, input, output, how many of MANY
TYPED = [
    ("f16", F16, F16, 7), ("u8", U8, U8, 7), ("i8", I8, I8, 7), ("i8d", I8D, I8D, 7),
    ("u8_requantized", U8, ("uint8", per_tensor(0.037, 90)), 7),
    ("i8_requantized", I8, ("int8", per_tensor(0.047, 4)), 7),
    ("i8d_requantized", I8D, ("int8", fixed_point(5)), 2),
    ("i16", I16, I16, 2), ("i16d", I16D, I16D, 2),
    ("i16_requantized", I16, ("int16", per_tensor(0.0007, -20)), 2),
    ("u8_to_f32", U8, F32, 2), ("u8_to_f16", U8, F16, 2), ("i8_to_f16", I8, F16, 2),
    ("f32_to_u8", F32, ("uint8", per_tensor(0.037, 90)), 2),
    ("f16_to_i8", F16, ("int8", per_tensor(0.047, 4)), 2),
    ("u8_to_i8", U8, ("int8", per_tensor(0.06, 4)), 2),
    ("i16d_to_i8", I16D, ("int8", per_tensor(1.1, 4)), 2),
]


def ties(rng, dtype, zero):
    """Twice the size: weights are quarters, and every step is exact in float32."""
    geometry = G((1, 3, 4, 5), (8, 10), half=True)
    x = random_tensor(rng, dtype, geometry.shape, per_tensor(0.125, zero))
    units = resample(x.centered().astype(np.float64), BILINEAR, geometry) + zero
    assert np.mean(units % 1 == 0.5) > 0.03
    y = Tensor(dtype, to_codes(units, dtype, exact=True), x.quant)
    return Case(geometry.op(), geometry.attributes(BILINEAR), [x], y)


def infinities(rng, geometry):
    """A neighbour of weight 0 does not count (NumPy's alone: in TFLite it makes
    NaN): the corners of the input are those of the output."""
    x = random_tensor(rng, "float32", geometry.shape)
    x.array[..., 0, 0], x.array[..., 2, 4] = np.inf, -np.inf
    y = np.empty(geometry.shape[:2] + geometry.size)
    tables = [sources(BILINEAR, extent, size, geometry.align, geometry.half)
              for extent, size in zip(geometry.shape[2:], geometry.size)]
    for row, col in np.ndindex(geometry.size):
        total = 0.0
        for h in (0, 1):
            for w in (0, 1):
                v, u = tables[0][2][row], tables[1][2][col]
                weight = (v if h else 1 - v) * (u if w else 1 - u)
                if weight:
                    total = total + weight * x.array[..., tables[0][h][row],
                                                     tables[1][w][col]].astype(np.float64)
        y[..., row, col] = total
    assert np.isinf(y).any() and not np.isnan(y).any()
    finite = np.abs(x.array[np.isfinite(x.array)]).max()
    return Case(geometry.op(), geometry.attributes(BILINEAR), [x],
                Tensor("float32", y), close(1e-6 * finite))


def rounding_of_coordinates(rng):
    """Sizes of which float32 and exact coordinates have other nearest elements:
    TFLite has those of float32."""
    extent, size = next(
        (n, m) for n in range(2, 100) for m in range(2, 200)
        if not np.array_equal(sources(NEAREST, n, m, False, False)[0],
                              np.arange(m) * n // m))
    return case_of(rng, NEAREST, G((1, 2, extent), (size,), onnx=False), *F32)


def add_all(suite):
    for kind, kind_name in NAMES.items():
        for name, geometry in MANY + MORE:
            suite.add(f"f32_{kind_name}_{name}",
                      lambda rng: case_of(rng, kind, geometry, *F32))
        for type_name, x, out, count in TYPED:
            for name, geometry in MANY[:count]:
                suite.add(f"{type_name}_{kind_name}_{name}",
                          lambda rng: case_of(rng, kind, geometry, *x, out))
    for dtype in ("int32", "bool8", "int64", "uint8"):
        for name, geometry in MANY[:2]:
            suite.add(f"{dtype}_nearest_{name}",
                      lambda rng: case_of(rng, NEAREST, geometry, dtype))
    suite.add("u8_bilinear_3x3_to_2x2_align", lambda rng: case_of(
        rng, BILINEAR, MORE[0][1], *U8, exact=True))
    suite.add("u8_bilinear_ties_to_even", lambda rng: ties(rng, "uint8", 121))
    suite.add("i8_bilinear_ties_to_even", lambda rng: ties(rng, "int8", -7))
    suite.add("f32_bilinear_infinities", lambda rng: infinities(
        rng, G((1, 3, 3, 5), (4, 7), align=True)))
    suite.add("f32_nearest_rounding_of_coordinates", rounding_of_coordinates)


def main():
    suite = Suite(__file__, onnxruntime, tf)
    add_all(suite)
    suite.write()


if __name__ == "__main__":
    main()
