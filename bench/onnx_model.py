"""The networks of bench/networks as ONNX models with the same weights."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
CHUNK = 1 << 22  # elements hashed at a time


def mix(z):
    """SplitMix64's output function, of a uint64 array."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def values(stream, bound, shape):
    """What FillValues() of bench/networks/values.h writes, bit for bit."""
    start = mix(np.array([(stream + GOLDEN) & MASK], np.uint64))
    result = np.empty(int(np.prod(shape)), np.float32)
    for first in range(0, result.size, CHUNK):
        last = min(first + CHUNK, result.size)
        index = np.arange(first + 1, last + 1, dtype=np.uint64)
        k = mix(start + index * np.uint64(GOLDEN)) >> np.uint64(40)
        unit = k.astype(np.float32) * np.float32(2**-23) - np.float32(1)
        result[first:last] = unit * np.float32(bound)
    return result.reshape(shape)


def window_attributes(layer):
    window = layer["window"]
    return {
        "kernel_shape": [window["size"]] * 2,
        "strides": [window["stride"]] * 2,
        "pads": [window["pad"]] * 4,
    }


# Operators that have neither attributes nor parameters.
PLAIN = {
    "Matmul": "MatMul",
    "Relu": "Relu",
    "Add": "Add",
    "GlobalAveragePool": "GlobalAveragePool",
    "Softmax": "Softmax",
    "Transpose": "Transpose",
}


class ModelWriter:
    def __init__(self, network):
        self.network = network
        self.nodes, self.constants = [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def parameters(self, number, layer):
        weights, bias = (
            values(p["stream"], p["bound"], p["shape"])
            for p in layer["parameters"]
        )
        if layer["kind"] == "DepthwiseConv2d":
            weights = weights.swapaxes(0, 1)  # ONNX: one per group
        return [
            self.constant("weights%d" % number, np.ascontiguousarray(weights)),
            self.constant("bias%d" % number, bias),
        ]

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))

    def layer(self, number, layer):
        kind, output = layer["kind"], "x%d" % number
        inputs = ["x%d" % i for i in layer["inputs"]]
        if kind in PLAIN:
            self.node(PLAIN[kind], inputs, output)
        elif kind == "Relu6":
            limits = [
                self.constant("%s%d" % (name, number), np.float32(value))
                for name, value in (("low", 0), ("high", 6))
            ]
            self.node("Clip", inputs + limits, output)
        elif kind == "Concat":
            self.node("Concat", inputs, output, axis=1)
        elif kind == "MaxPool":
            self.node("MaxPool", inputs, output, **window_attributes(layer))
        elif kind == "FullyConnected":
            self.node("Flatten", inputs, "flat%d" % number)
            inputs = ["flat%d" % number] + self.parameters(number, layer)
            self.node("Gemm", inputs, output, transB=1)
        elif kind in ("Conv2d", "DepthwiseConv2d"):
            depthwise = kind == "DepthwiseConv2d"
            self.node(
                "Conv",
                inputs + self.parameters(number, layer),
                output,
                group=layer["shape"][1] if depthwise else 1,
                **window_attributes(layer),
            )
        else:
            raise ValueError("no ONNX operator for a layer '%s'" % kind)

    def value(self, number):
        shape = self.network["layers"][number]["shape"]
        name = "x%d" % number
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)

    def model(self):
        layers = self.network["layers"]
        inputs = []
        for number, layer in enumerate(layers):
            if layer["kind"] == "Input":
                inputs.append(self.value(number))
            else:
                self.layer(number, layer)
        graph = helper.make_graph(
            self.nodes,
            self.network["name"],
            inputs,
            [self.value(len(layers) - 1)],
            self.constants,
        )
        opset = [helper.make_opsetid("", 13)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        onnx.checker.check_model(model)
        return model


def onnx_model(network):
    """`network`: what `run describe NAME` prints, parsed."""
    return ModelWriter(network).model()
