"""Goldens of the operators that are a Conv2d with other attributes: Conv2d's cases
(tests/goldens/convolution/conv2d), made anew with other seeds, in the form of the
operator, and float ones again by ONNX Runtime in that form."""

import importlib.util
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "conv2d"), os.path.join(HERE, "..")]
import oracle
from golden_format import Case, Tensor, per_channel, per_tensor


def load(folder):
    """The script make_golden.py of another folder as a module."""
    path = os.path.join(folder, "make_golden.py")
    spec = importlib.util.spec_from_file_location("make_" + os.path.basename(folder), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


conv2d = load(os.path.join(HERE, "conv2d"))


def without_height(tensor, shape=None, axis=None):
    """[N, C, 1, W] as [N, C, W], or as `shape`; tensors of rank 1 stay."""
    array = tensor.array
    if array.ndim != 4:
        return tensor
    quant = tensor.quant
    if quant.kind == "channel":
        zeros = quant.zero_points
        quant = per_channel(axis if axis is not None else quant.axis - 1, quant.scales)
        quant.zero_points = zeros
    shape = shape or array.shape[:2] + array.shape[3:]
    return Tensor(tensor.dtype, array.reshape(shape), quant, tensor.role)


def in_1d(case, op, group=None):
    """A case of height 1 as one of Conv1d or GroupedConv1d. Depthwise kernels
    [Cm, 1, K] instead of [1, Cm, 1, K]."""
    old = case.attributes
    assert case.inputs[0].array.shape[2] == 1 and case.inputs[1].array.shape[2] == 1
    attributes = {"padding": old["padding"], "pad": old["pad"][:2],
                  "stride": old["stride"][0], "dilation": old["dilation"][0]}
    if group is None:
        attributes["multiplier"] = old["multiplier"]
    else:
        attributes["group"] = group
    attributes |= {key: old[key] for key in ("overflow_policy", "rounding_policy")
                   if key in old}
    x, k = case.inputs[:2]
    if old["multiplier"]:
        k = without_height(k, (k.array.shape[1], 1, k.array.shape[3]), axis=2)
    else:
        k = without_height(k)
    made = Case(op, attributes, [without_height(x), k] + case.inputs[2:],
                without_height(case.outputs[0]), case.tolerance)
    check_with_onnx_1d(made)
    return made


def check_with_onnx_1d(case):
    x, k = case.inputs[:2]
    y = case.outputs[0]
    if {x.dtype, k.dtype, y.dtype} != {"float32"} or y.role == "declared":
        return
    a = case.attributes
    dilation = max(a["dilation"], 1)
    reach = (k.array.shape[2] - 1) * dilation + 1
    total = max((y.array.shape[2] - 1) * a["stride"] + reach - x.array.shape[2], 0)
    front = {1: 0, 2: total // 2}.get(a["padding"], a["pad"][0])
    found = oracle.run_onnx(
        "Conv", [x.array, k.array] + [b.array.astype(np.float32) for b in case.inputs[2:]],
        group=x.array.shape[1] // k.array.shape[1], pads=[front, max(total - front, 0)],
        strides=[a["stride"]], dilations=[dilation])
    bound = 2e-6 * np.abs(k.array).sum(axis=(1, 2)).max() * max(np.abs(x.array).max(), 1)
    oracle.require_close(found, y.array.astype(np.float64), "ORT Conv in 1-D", bound + 1e-6)


def grouped_2d(case, group):
    attributes = dict(case.attributes)
    assert attributes.pop("multiplier") == 0
    for key in ("weights", "ksize"):
        attributes.pop(key, None)
    attributes["group"] = group
    return Case("tim.GroupedConv2d", attributes, case.inputs, case.outputs, case.tolerance)


def add_kinds(suite, geometries, change, main=conv2d.MAIN):
    """Every combination of types with the first geometry, `main` with all."""
    for name, (x_type, x_quant), (k_type, k_quant), out, bias in conv2d.quantized_kinds():
        for where, x, k, geometry in geometries if name in main else geometries[:1]:
            suite.add(f"{name}_{where}", lambda rng: change(conv2d.quantized_case(
                rng, x_type, x_quant, k_type, k_quant, *out, x, k, geometry, bias),
                x[1] // k[1]))


def add_floats(suite, geometries, change):
    for i, (name, x, k, geometry) in enumerate(geometries):
        for dtype, short in (("float32", "f32"), ("float16", "f16")):
            suite.add(f"{short}_{name}", lambda rng: change(conv2d.float_case(
                rng, dtype, x, k, geometry, bias=i % 2 == 0), x[1] // k[1]))
    name, x, k, geometry = geometries[0]
    suite.add("f32_integers", lambda rng: change(conv2d.float_case(
        rng, "float32", x, k, geometry, bias=True, exact=True), x[1] // k[1]))
    suite.add("f32_input_kernel_and_bias", lambda rng: change(conv2d.float_case(
        rng, "float32", x, k, geometry, True, kernel_role="var"), x[1] // k[1]))
    for dtype, short in (("float32", "f32"), ("float16", "f16")):
        suite.add(f"{short}_half_bias", lambda rng: change(conv2d.float_case(
            rng, dtype, x, k, geometry, True, bias_dtype="float16"), x[1] // k[1]))


def add_input_kernels(suite, x, k, geometry, change):
    u8, out = ("uint8", per_tensor(0.05, 121)), ("uint8", per_tensor(0.31, 119))
    for name, kernel in (("u8", ("uint8", per_tensor(0.011, 133))), ("i8pc", ("int8", "pc"))):
        suite.add(f"u8_{name}_input_kernel_and_bias", lambda rng: change(
            conv2d.quantized_case(rng, *u8, *kernel, *out, x, k, geometry,
                                  kernel_role="var"), x[1] // k[1]))
    suite.add("u8_wrap", lambda rng: change(conv2d.quantized_case(
        rng, *u8, "uint8", per_tensor(0.011, 133), "uint8", per_tensor(0.02, 100), x, k,
        geometry, policy=(0, 1)), x[1] // k[1]))
