"""The 8-bit networks of bench/networks in NumPy, by the formulas alone.

Sums are exact, and come back to codes by two operations in float32, one
multiplication by input scale * weight scale / output scale and one addition of
the zero point, then round to even: the codes that TIM-CL has on every device.
"""

import numpy as np

from onnx_model import ModelWriter
from onnx_quantized import TYPES, encode

FLOAT = np.float32


def run(network, x):
    """Codes of the output for one input."""
    *layers, _ = network["layers"]
    parameters = ModelWriter(network).parameters
    codes = [x]
    for layer in layers[1:]:
        sources = [(codes[i], layers[i]["codes"]) for i in layer["inputs"]]
        units = KINDS[layer["kind"]](layer, sources, parameters(layer))
        limits = np.iinfo(TYPES[layer["codes"]["type"]])
        found = np.clip(np.rint(units), limits.min, limits.max)
        codes.append(found.astype(np.int32).reshape(layer["shape"]))
    return codes[-1]


def scale(codes):
    return FLOAT(codes["scales"][0])


def centered(source):
    values, codes = source
    return values - codes["zero_point"]


def real(source):
    return centered(source).astype(FLOAT) * scale(source[1])


def in_units(layer, values):
    """Real values in units of the codes of the layer's result."""
    codes = layer["codes"]
    return values / scale(codes) + FLOAT(codes["zero_point"])


def times(layer, sums, factor):
    codes = layer["codes"]
    factor = (np.float64(factor) / scale(codes)).astype(FLOAT)
    return sums.astype(FLOAT) * factor + FLOAT(codes["zero_point"])


def quantize(layer, sources, _):
    ((values, _),) = sources
    return in_units(layer, values)


def as_it_is(layer, sources, _):
    ((values, _),) = sources
    return values


def of_real(function):
    """An operator on float32 between codes."""

    def units(layer, sources, _):
        return in_units(layer, function(layer, *map(real, sources)))

    return units


def hard_sigmoid(layer, x):
    alpha, beta = map(FLOAT, layer["coefficients"])
    return np.clip(x * alpha + beta, FLOAT(0), FLOAT(1))


def hard_swish(_, x):
    return x * np.clip(x + FLOAT(3), FLOAT(0), FLOAT(6)) / FLOAT(6)


def windows(layer, values, padding):
    """[size * size, N, C, H, W] of the result: what its elements read."""
    window = layer["window"]
    size, stride, pad = window["size"], window["stride"], window["pad"]
    edges = [(0, 0), (0, 0), (pad, pad), (pad, pad)]
    values = np.pad(values, edges, constant_values=padding)
    height, width = ((n - 1) * stride + 1 for n in layer["shape"][2:])
    return np.stack([
        values[:, :, y : y + height : stride, x : x + width : stride]
        for y in range(size)
        for x in range(size)
    ])


def max_pool(layer, sources, _):
    ((values, codes),) = sources
    return windows(layer, values, np.iinfo(TYPES[codes["type"]]).min).max(0)


def mean(layer, sources, _):
    (source,) = sources
    sums = centered(source).sum((2, 3), keepdims=True)
    count = FLOAT(source[0][0, 0].size)
    return times(layer, sums.astype(FLOAT) / count, scale(source[1]))


def sum_of_products(layer, sources, arrays):
    (source,) = sources
    (weights, weight_codes), bias = (
        (encode(array, parameter["codes"]).astype(np.int32), parameter["codes"])
        for array, parameter in zip(arrays, layer["parameters"])
    )
    # Sums of integers below 2^53 are exact in any order.
    weights = (weights - weight_codes["zero_point"]).astype(np.float64)
    values = centered(source).astype(np.float64)
    if layer["kind"] == "FullyConnected":
        sums = weights @ values.reshape(-1, 1)
    elif layer["kind"] == "DepthwiseConv2d":
        taps = weights.reshape(weights.shape[1], -1)
        sums = np.einsum("tnchw,ct->chw", windows(layer, values, 0), taps)
    else:
        taps = np.moveaxis(windows(layer, values, 0)[:, 0], 0, 1)
        rows = weights.reshape(len(weights), -1)
        sums = rows @ taps.reshape(rows.shape[1], -1)
    channels = len(bias[0])
    sums = sums.reshape(channels, -1) + bias[0][:, None]
    scales = np.array(weight_codes["scales"], FLOAT)[:, None]
    return times(layer, sums, np.float64(scale(source[1])) * scales)


KINDS = {
    "DataConvert": quantize,
    "Conv2d": sum_of_products,
    "DepthwiseConv2d": sum_of_products,
    "FullyConnected": sum_of_products,
    "Relu": as_it_is,  # codes that begin with 0
    "Relu6": as_it_is,
    "HardSigmoid": of_real(hard_sigmoid),
    "HardSwish": of_real(hard_swish),
    "Add": of_real(lambda _, a, b: a + b),
    "Multiply": of_real(lambda _, a, b: a * b),
    "MaxPool": max_pool,
    "GlobalAveragePool": mean,
}
