"""Goldens of Conv2d. Oracles: PyTorch conv2d in float64, ONNX Runtime's Conv,
ConvInteger and QLinearConv; quantized codes from exact integers in NumPy."""

import os
import sys

import numpy as np
import onnxruntime
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import oracle
from direct_convolution import (AUTO, NO_PAD, SAME, VALID, Geometry, convolve,
                                onnx_attributes)
from golden_format import (EXACT, Case, Suite, Tensor, close, fixed_point, per_channel,
                           per_tensor, random_tensor, small_integers, store, NONE,
                           TYPES)

# ---- float ------------------------------------------------------------------


def float_case(rng, dtype, x_shape, k_shape, geometry, bias=False, exact=False,
               kernel_role="const", out_dtype=None, bias_dtype="float32", extents=None):
    make = small_integers if exact else (
        lambda r, shape: random_tensor(r, dtype, shape))
    x, k = make(rng, x_shape), make(rng, k_shape)
    k.role = kernel_role
    k.array = k.array if exact else (k.array / 4).astype(k.array.dtype)
    x64, k64 = x.real(), k.real()
    sums = convolve(x64, k64, geometry, extents)
    size = convolve(np.abs(x64), np.abs(k64), geometry, extents)
    inputs = [x, k]
    if bias:
        b = random_tensor(rng, bias_dtype, sums.shape[1:2])
        if exact or dtype == "float16":
            b.array = np.rint(b.array * 2).astype(b.array.dtype)
        b.role = kernel_role
        inputs.append(b)
        sums = sums + b.real().reshape(1, -1, 1, 1)
        size = size + np.abs(b.real()).reshape(1, -1, 1, 1)
    if dtype == "float32" and extents is None:
        check_with_onnx(x, k, inputs[2:], geometry, sums, size)
    # Sums of multiples of 1/256 below 2^16 are exact in float32.
    out = store(sums, out_dtype or dtype, error=0)
    if extents:
        out = out.declared()
    tolerance = EXACT
    if dtype == "float32" and not exact:
        tolerance = close(1e-6 * size.max())  # rounding of a float32 sum
    return Case("tim.Conv2d", geometry.attributes(), inputs, out, tolerance)


def check_with_onnx(x, k, bias, geometry, sums, size):
    groups, kernel = geometry.groups(x.array, k.array)
    found = oracle.run_onnx(
        "Conv", [x.array, kernel] + [b.array.astype(np.float32) for b in bias],
        group=groups, **onnx_attributes(geometry, x.array, kernel))
    oracle.require_close(found, sums, "ORT Conv", 1e-6 * size.max())


# ---- quantized --------------------------------------------------------------


def kernel_quant(rng, kind, channels, depthwise):
    if kind != "pc":
        return kind
    return per_channel(2 if depthwise else 3, rng.uniform(0.002, 0.02, channels))


def quantized_case(rng, x_type, x_quant, k_type, k_quant, out_type, out_quant, x_shape,
                   k_shape, geometry, bias="int32", policy=(1, 1), kernel_role="const",
                   limit=None, slack=0.0, extents=None, short_zeros=True):
    channels = k_shape[1] if geometry.multiplier else k_shape[0]
    k_quant = kernel_quant(rng, k_quant, channels, geometry.multiplier)
    x = random_tensor(rng, x_type, x_shape, x_quant)
    k = random_tensor(rng, k_type, k_shape, k_quant, kernel_role)
    if limit:
        k.array = np.clip(k.array, -limit, limit)
    if k_quant.kind == "channel" and not short_zeros:
        k_quant.zero_points = [0] * channels
    acc = convolve(x.centered(), k.centered(), geometry, extents)
    s_k = np.reshape(k_quant.scale(1) if k_quant.kind != "channel"
                     else np.array(k_quant.scales), (1, -1, 1, 1))
    s_acc = x_quant.scale() * s_k
    inputs = [x, k]
    if bias:
        b = make_bias(rng, bias, channels, acc, x_quant, k_quant, kernel_role)
        inputs.append(b)
        acc = acc + b.array.astype(np.int64).reshape(1, -1, 1, 1)
    wrap, to_zero = policy[0] == 0, policy[1] == 0
    out = store(acc * s_acc, out_type, out_quant, slack=slack, wrap=wrap,
                to_zero=to_zero)
    if TYPES[out_type] and not wrap and not to_zero:
        check_design_rule(acc, x_quant, k_quant, out)
    if extents is None:
        check_with_onnx_integers(x, k, inputs[2:], geometry, acc, out, policy == (1, 1))
    if extents:
        out = out.declared()
    attributes = geometry.attributes()
    if policy != (1, 1):
        attributes |= {"overflow_policy": policy[0], "rounding_policy": policy[1]}
    tolerance = EXACT
    if out_type == "float32":  # one multiplication, scales combined in any order
        tolerance = close(0, 4e-7)
    return Case("tim.Conv2d", attributes, inputs, out, tolerance)


def make_bias(rng, dtype, channels, acc, x_quant, k_quant, role):
    spread = max(int(np.abs(acc).max(initial=0)) // 4, 1)
    codes = rng.integers(-spread, spread + 1, channels)
    if x_quant.kind == "fixed" and k_quant.kind == "fixed":
        quant = fixed_point(x_quant.fl + k_quant.fl)
    elif k_quant.kind == "channel":
        scales = np.float32(x_quant.scale()) * np.array(k_quant.scales, np.float32)
        quant = per_channel(0, scales)
    else:
        quant = per_tensor(np.float32(x_quant.scale()) * np.float32(k_quant.scale()))
    return Tensor(dtype, codes, quant, role)


def check_design_rule(acc, x_quant, k_quant, out):
    """The two-rounding rule gives the same codes as real arithmetic."""
    s_k = (np.array(k_quant.scales) if k_quant.kind == "channel"
           else np.array([k_quant.scale()])).reshape(1, -1, 1, 1)
    multiplier = np.float32(x_quant.scale() * s_k / out.quant.scale())
    units = np.float32(acc) * multiplier + np.float32(out.quant.zero())
    low, high = TYPES[out.dtype][1:]
    oracle.require_equal(np.clip(np.rint(units), low, high), out.array, "design rule")


def check_with_onnx_integers(x, k, bias, geometry, acc, out, default):
    eight = ("uint8", "int8")
    if x.dtype not in eight or k.dtype not in eight:
        return
    groups, kernel = geometry.groups(x.array, k.array)
    where = dict(group=groups, **onnx_attributes(geometry, x.array, kernel))
    per_kernel = k.quant.kind == "channel"
    zero = lambda t: np.array(
        0 if t.quant.kind == "channel" else t.quant.zero(), t.array.dtype)
    if x.dtype == "uint8":
        try:
            sums = oracle.run_onnx(
                "ConvInteger", [x.array, kernel, zero(x), zero(k)], np.int32, **where)
        except Exception as error:  # not every sign and group is implemented
            if "NOT_IMPLEMENTED" not in str(error) and "Could not find" not in str(error):
                raise
        else:
            shift = sum(b.array.astype(np.int64).reshape(1, -1, 1, 1) for b in bias)
            oracle.require_equal(sums + shift, acc, "ORT ConvInteger")
    if not default or out.dtype != x.dtype or (x.dtype, k.dtype) == ("int8", "uint8"):
        return
    scales = np.array(k.quant.scales if per_kernel else k.quant.scale(), np.float32)
    zeros = np.zeros(len(k.quant.scales), k.array.dtype) if per_kernel else zero(k)
    codes = oracle.run_onnx(
        "QLinearConv",
        [x.array, np.float32(x.quant.scale()), zero(x), kernel, scales, zeros,
         np.float32(out.quant.scale()), zero(out)]
        + [b.array for b in bias if b.dtype == "int32"], **where)
    oracle.require_equal(codes, out.array, "ORT QLinearConv")


# ---- lists of cases ---------------------------------------------------------


def float_geometries():
    """name, input [N,C,H,W], kernel [OC,C/g,KH,KW], geometry"""
    g = Geometry
    return [
        ("1x1", (1, 1, 1, 1), (1, 1, 1, 1), g()),
        ("pointwise_33ch", (1, 33, 5, 7), (31, 33, 1, 1), g(padding=VALID)),
        ("pointwise_stride2", (2, 16, 7, 5), (17, 16, 1, 1), g(stride=(2, 2))),
        ("3x3_pad1", (1, 3, 9, 11), (5, 3, 3, 3), g(pad=(1, 1, 1, 1))),
        ("3x3_32ch", (1, 32, 6, 6), (32, 32, 3, 3), g(padding=SAME)),
        ("same_even_kernel", (1, 2, 5, 6), (3, 2, 4, 2), g(padding=SAME)),
        ("same_even_stride2", (2, 3, 7, 8), (4, 3, 2, 4), g(padding=SAME, stride=(2, 2))),
        ("same_discards_pad", (1, 2, 5, 5), (2, 2, 3, 3), g(padding=SAME, pad=(4, 3, 2, 1))),
        ("valid_discards_pad", (1, 2, 5, 5), (2, 2, 3, 3),
         g(padding=VALID, pad=(4, 3, 2, 1))),
        ("none_acts_as_auto", (1, 2, 5, 5), (2, 2, 3, 3),
         g(padding=NO_PAD, pad=(1, 0, 2, 1))),
        ("kernel_is_input", (1, 3, 4, 5), (2, 3, 4, 5), g(padding=VALID)),
        ("kernel_larger_same", (1, 2, 2, 3), (3, 2, 5, 7), g(padding=SAME)),
        ("kernel_larger_same_named_layout", (1, 2, 2, 3), (3, 2, 5, 7),
         g(padding=SAME, input_layout=2, kernel_layout=3)),
        ("kernel_larger_pads", (1, 1, 2, 2), (2, 1, 5, 4), g(pad=(2, 3, 2, 1))),
        ("asymmetric_pads", (1, 2, 6, 5), (3, 2, 3, 3), g(pad=(0, 2, 3, 1))),
        ("stride_3_1", (1, 2, 8, 10), (3, 2, 3, 3), g(padding=VALID, stride=(3, 1))),
        ("stride_beyond_kernel", (1, 2, 9, 9), (2, 2, 2, 2), g(stride=(3, 4))),
        ("dilation_3", (1, 2, 9, 9), (2, 2, 3, 3), g(padding=VALID, dilation=(3, 3))),
        ("dilation_2_3_same", (1, 2, 9, 8), (2, 2, 3, 2), g(padding=SAME, dilation=(2, 3))),
        ("dilation_0", (1, 2, 5, 6), (2, 2, 3, 3), g(padding=VALID, dilation=(0, 0))),
        ("dilation_0_1_same", (1, 2, 5, 6), (2, 2, 3, 3), g(padding=SAME, dilation=(0, 2))),
        ("dilation_beyond_input", (1, 2, 4, 5), (2, 2, 3, 3),
         g(padding=SAME, dilation=(10, 10))),
        ("batch3_weights_ksize", (3, 4, 5, 3), (7, 4, 3, 2),
         g(padding=VALID, weights=7, ksize=[2, 3])),
        ("row", (1, 5, 1, 33), (4, 5, 1, 5), g(pad=(2, 2, 0, 0))),
        ("column", (1, 5, 31, 1), (4, 5, 5, 1), g(pad=(0, 0, 1, 1), stride=(1, 2))),
        ("groups2", (1, 6, 5, 5), (4, 3, 3, 3), g(pad=(1, 1, 1, 1))),
        ("groups4_of_34", (2, 34 * 2, 3, 4), (12, 17, 2, 2), g(padding=VALID)),
        ("groups_of_1", (1, 5, 6, 6), (5, 1, 3, 3), g(padding=SAME)),
        ("depthwise", (1, 5, 6, 7), (1, 5, 3, 3), g(padding=VALID, multiplier=1)),
        ("depthwise_m2", (2, 3, 6, 5), (1, 6, 3, 3), g(padding=SAME, multiplier=2)),
        ("depthwise_m3_stride2", (1, 3, 7, 9), (1, 9, 2, 3),
         g(padding=SAME, multiplier=3, stride=(2, 2))),
        ("depthwise_33ch", (1, 33, 5, 5), (1, 33, 3, 3), g(pad=(1, 1, 1, 1), multiplier=1)),
        ("depthwise_dilation_10", (1, 2, 3, 3), (1, 4, 2, 2),
         g(padding=SAME, multiplier=2, dilation=(10, 10))),
        ("depthwise_1x1", (1, 4, 3, 3), (1, 8, 1, 1), g(multiplier=2)),
    ]


EXACT_TOO = ("same_even_kernel", "3x3_pad1", "stride_3_1", "dilation_3", "depthwise_m2",
             "groups2", "pointwise_stride2", "kernel_larger_same")
HALF = ("1x1", "pointwise_33ch", "3x3_pad1", "same_even_kernel", "groups2", "depthwise_m2",
        "dilation_2_3_same", "kernel_larger_pads")


def add_floats(suite):
    for i, (name, x, k, geometry) in enumerate(float_geometries()):
        suite.add(f"f32_{name}", lambda rng: float_case(
            rng, "float32", x, k, geometry, bias=i % 2 == 0))
        if name in EXACT_TOO:
            suite.add(f"f32_{name}_integers", lambda rng: float_case(
                rng, "float32", x, k, geometry, bias=i % 2 == 1, exact=True))
        if name in HALF:
            suite.add(f"f16_{name}", lambda rng: float_case(
                rng, "float16", x, k, geometry, bias=i % 2 == 0))
    g = Geometry
    suite.add("f32_input_kernel_and_bias", lambda rng: float_case(
        rng, "float32", (1, 3, 5, 6), (4, 3, 3, 3), g(padding=SAME), True, kernel_role="var"))
    suite.add("f16_input_kernel", lambda rng: float_case(
        rng, "float16", (1, 8, 6, 6), (9, 8, 1, 1), g(stride=(2, 2), weights=9, ksize=[1, 1]),
        kernel_role="var"))
    suite.add("f32_half_bias", lambda rng: float_case(
        rng, "float32", (1, 3, 5, 6), (4, 3, 3, 3), g(), True, bias_dtype="float16"))
    suite.add("f16_half_bias", lambda rng: float_case(
        rng, "float16", (1, 3, 5, 6), (4, 3, 3, 3), g(), True, bias_dtype="float16"))
    suite.add("f32_declared_larger", lambda rng: float_case(
        rng, "float32", (1, 2, 4, 5), (3, 2, 3, 3), g(pad=(1, 0, 0, 1)), True,
        extents=(7, 6)))
    suite.add("f32_declared_smaller", lambda rng: float_case(
        rng, "float32", (1, 2, 6, 7), (3, 2, 3, 3), g(stride=(2, 1)), extents=(2, 3)))


def quantized_kinds():
    """name, input, kernel, output (type, quantization), bias type"""
    u8, i8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
    i16 = ("int16", per_tensor(0.0005, 300))
    u16 = ("uint16", per_tensor(0.0004, 30000))
    u4, i4 = ("uint4", per_tensor(0.25, 6)), ("int4", per_tensor(0.2, 1))
    out_u8, out_i8 = ("uint8", per_tensor(0.31, 119)), ("int8", per_tensor(0.27, 5))
    out_i16 = ("int16", per_tensor(0.013, -117))
    kernel_u8, kernel_i8 = ("uint8", per_tensor(0.011, 133)), ("int8", per_tensor(0.013, 3))
    i8d, k8d = ("int8", fixed_point(4)), ("int8", fixed_point(6))
    i16d, k16d = ("int16", fixed_point(8)), ("int16", fixed_point(13))
    return [
        ("u8_u8", u8, kernel_u8, out_u8, "int32"),
        ("i8_i8", i8, kernel_i8, out_i8, "int32"),
        ("i8_symmetric", ("int8", per_tensor(0.04)), ("int8", per_tensor(0.013)),
         ("int8", per_tensor(0.27)), "int32"),
        ("u8_i8pc", u8, ("int8", "pc"), out_u8, "int32"),
        ("i8_i8pc", i8, ("int8", "pc"), out_i8, "int32"),
        ("u8_u8pc", u8, ("uint8", "pc"), ("uint8", per_tensor(0.83, 128)), "int32"),
        ("u8_i8", u8, kernel_i8, out_u8, "int32"),
        ("i8_u8", i8, kernel_u8, out_i8, "int32"),
        ("u8_u8_to_i8", u8, kernel_u8, out_i8, "int32"),
        ("i8_i8_to_u8", i8, kernel_i8, out_u8, None),
        ("u8_u8_to_i16", u8, kernel_u8, out_i16, "int32"),
        ("u8_u8_to_f32", u8, kernel_u8, ("float32", NONE), "int32"),
        ("i8_i8pc_to_f16", i8, ("int8", "pc"), ("float16", NONE), "int32"),
        ("u8_i16", u8, ("int16", per_tensor(0.0001, 5)), out_u8, "int32"),
        ("i16_u8", i16, kernel_u8, out_i16, "int32"),
        ("i16_i16", i16, ("int16", per_tensor(0.0001, -40)), out_i16, "int64"),
        ("i16_i16_to_u8", i16, ("int16", per_tensor(0.0001, 0)), out_u8, "int64"),
        ("u16_u16", u16, ("uint16", per_tensor(0.0001, 33000)),
         ("uint16", per_tensor(0.017, 31000)), "int64"),
        ("u16_u8", u16, kernel_u8, ("uint16", per_tensor(0.017, 31000)), "int32"),
        ("i8d_i8d", i8d, k8d, ("int8", fixed_point(1)), "int32"),
        ("i16d_i16d", i16d, k16d, ("int16", fixed_point(2)), "int64"),
        ("i16d_i16d_bias32", i16d, k16d, ("int16", fixed_point(3)), "int32"),
        ("i16d_i16d_no_bias", i16d, ("int16", fixed_point(15)), ("int16", fixed_point(4)),
         None),
        ("i16d_i16pc", ("int16", fixed_point(14)), ("int16", "pc"),
         ("int16", fixed_point(1)), "int64"),
        ("i8d_negative_fl", ("int8", fixed_point(-2)), k8d, ("int8", fixed_point(-5)),
         "int32"),
        ("u4_u4", u4, ("uint4", per_tensor(0.1, 8)), ("uint4", per_tensor(1.3, 7)), "int32"),
        ("i4_i4", i4, ("int4", per_tensor(0.1, 0)), ("int4", per_tensor(1.1, -1)), "int32"),
        ("u4_i4_to_u8", u4, ("int4", per_tensor(0.1, 0)), out_u8, "int32"),
        ("u8_u4", u8, ("uint4", per_tensor(0.1, 8)), out_u8, "int32"),
        ("u8_i4", u8, ("int4", per_tensor(0.1, 0)), out_u8, "int32"),
    ]


def quantized_geometries():
    g = Geometry
    return [
        ("pad", (1, 3, 6, 7), (5, 3, 3, 3), g(pad=(1, 1, 1, 1))),
        ("depthwise", (1, 3, 5, 6), (1, 6, 3, 2), g(padding=SAME, multiplier=2)),
        ("same_stride2", (2, 5, 7, 5), (3, 5, 2, 4), g(padding=SAME, stride=(2, 2))),
        ("dilated", (1, 2, 7, 8), (4, 2, 3, 2), g(padding=VALID, dilation=(2, 3))),
        ("groups", (1, 6, 4, 4), (4, 3, 2, 2), g(pad=(1, 0, 0, 1))),
        ("pointwise_33ch", (1, 33, 3, 4), (17, 33, 1, 1), g(stride=(2, 1))),
    ]


# Types that get every geometry; the others get the first two.
MAIN = ("u8_u8", "i8_i8", "u8_i8pc", "i8_i8pc", "i16d_i16d")


def add_quantized(suite):
    for name, (x_type, x_quant), (k_type, k_quant), out, bias in quantized_kinds():
        geometries = quantized_geometries()
        for where, x, k, geometry in geometries if name in MAIN else geometries[:2]:
            if "u16" in name or "i16_i16" in name:
                x = (1,) + x[1:2] + (3, 4)
            suite.add(f"{name}_{where}", lambda rng: quantized_case(
                rng, x_type, x_quant, k_type, k_quant, *out, x, k, geometry, bias))
    u8, out = ("uint8", per_tensor(0.05, 121)), ("uint8", per_tensor(0.31, 119))
    kernel = ("uint8", per_tensor(0.011, 133))
    x, k, geometry = (1, 3, 6, 7), (5, 3, 3, 3), Geometry(pad=(1, 1, 1, 1))
    suite.add("u8_saturates", lambda rng: quantized_case(
        rng, *u8, *kernel, "uint8", per_tensor(0.02, 100), x, k, geometry))
    suite.add("i8_saturates_at_127", lambda rng: quantized_case(
        rng, "int8", per_tensor(0.04, -7), "int8", "pc", "int8", per_tensor(0.01, 90),
        x, k, geometry))
    suite.add("u8_input_kernel_and_bias", lambda rng: quantized_case(
        rng, *u8, *kernel, *out, x, k, geometry, kernel_role="var"))
    suite.add("u8_no_bias_same", lambda rng: quantized_case(
        rng, *u8, *kernel, *out, x, (5, 3, 4, 4), Geometry(padding=SAME), None))
    suite.add("u8_wrap", lambda rng: quantized_case(
        rng, *u8, *kernel, "uint8", per_tensor(0.02, 100), x, k, geometry, policy=(0, 1)))
    suite.add("u8_to_zero", lambda rng: quantized_case(
        rng, *u8, *kernel, *out, x, k, geometry, policy=(1, 0)))
    suite.add("i8_wrap_to_zero", lambda rng: quantized_case(
        rng, "int8", per_tensor(0.04, 0), "int8", per_tensor(0.013, 0), "int8",
        per_tensor(0.05, 0), x, k, geometry, policy=(0, 0)))
    suite.add("u8_declared_larger", lambda rng: quantized_case(
        rng, *u8, *kernel, *out, (1, 2, 4, 5), (3, 2, 3, 3), Geometry(pad=(1, 0, 0, 1)),
        extents=(6, 5)))
    suite.add("i8_i8pc_zero_per_channel", lambda rng: quantized_case(
        rng, "int8", per_tensor(0.04, -7), "int8", "pc", "int8", per_tensor(0.27, 5), x, k,
        geometry, short_zeros=False))
    suite.add("u8_i8pc_128_to_256_stride2", lambda rng: quantized_case(
        rng, *u8, "int8", "pc", *out, (1, 128, 3, 3), (256, 128, 1, 1),
        Geometry(padding=VALID, stride=(2, 2))))
    suite.add("u8_ties_to_even", ties)
    suite.add("u8_bias_of_other_scale", other_bias_scale)


def ties(rng):
    """Powers of two everywhere: sums are exact, every odd one is a tie."""
    x = Tensor("uint8", rng.integers(100, 141, (1, 2, 5, 6)), per_tensor(0.5, 121))
    k = Tensor("uint8", rng.integers(126, 133, (3, 2, 2, 2)), per_tensor(0.25, 129), "const")
    geometry = Geometry(padding=VALID)
    acc = convolve(x.centered(), k.centered(), geometry)
    units = np.float32(acc) * np.float32(0.5 * 0.25 / 0.25) + np.float32(119)
    assert np.mean(units % 1 == 0.5) > 0.3
    out = Tensor("uint8", np.clip(np.rint(units), 0, 255).astype(int), per_tensor(0.25, 119))
    check_with_onnx_ties(x, k, geometry, acc)
    return Case("tim.Conv2d", geometry.attributes(), [x, k], out)


def check_with_onnx_ties(x, k, geometry, acc):
    sums = oracle.run_onnx("ConvInteger", [x.array, k.array, np.uint8(121), np.uint8(129)],
                           np.int32, **onnx_attributes(geometry, x.array, k.array))
    oracle.require_equal(sums, acc, "ORT ConvInteger")


def other_bias_scale(rng):
    """The bias counts with its own scale. Rounding it to units of the sum first
    is as good, so no result lies within half such a unit of a tie."""
    x = random_tensor(rng, "uint8", (1, 2, 3, 4), per_tensor(0.05, 121))
    k = random_tensor(rng, "uint8", (3, 2, 2, 2), per_tensor(0.011, 133), "const")
    b = Tensor("int32", rng.integers(-3000, 3000, 3), per_tensor(0.0017), "const")
    geometry = Geometry(padding=VALID)
    acc = convolve(x.centered(), k.centered(), geometry)
    real = acc * (x.quant.scale() * k.quant.scale()) + b.real().reshape(1, -1, 1, 1)
    slack = 0.6 * x.quant.scale() * k.quant.scale() / 0.31
    out = store(real, "uint8", per_tensor(0.31, 119), slack=slack)
    return Case("tim.Conv2d", geometry.attributes(), [x, k, b], out)


def main():
    suite = Suite(__file__, onnxruntime, torch)
    add_floats(suite)
    add_quantized(suite)
    suite.write()


if __name__ == "__main__":
    main()
