"""The networks of bench/networks as ONNX models with the same weights."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_layers import LayerNodes

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


class ModelWriter:
    layer_nodes = LayerNodes
    OPSETS = [("", 17)]

    def __init__(self, network):
        self.network = network
        self.nodes, self.constants = [], []

    def name(self, role, number):
        """A new one, of what layer `number` has besides its result."""
        count = len(self.nodes) + len(self.constants)
        return "%s%d_%d" % (role, number, count)

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def parameters(self, layer):
        def array(parameter):
            bound, shape = parameter["bound"], parameter["shape"]
            center = np.float32(parameter["center"])
            return values(parameter["stream"], bound, shape) + center

        return [array(parameter) for parameter in layer["parameters"]]

    def node(self, op, inputs, *outputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))

    def value(self, number):
        shape = self.network["layers"][number]["shape"]
        name = "x%d" % number
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)

    def model(self, outputs=None):
        """`outputs`: numbers of layers, the last one where none are given."""
        layers = self.network["layers"]
        inputs = []
        for number, layer in enumerate(layers):
            if layer["kind"] == "Input":
                inputs.append(self.value(number))
            else:
                self.layer_nodes(self, number, layer).add()
        graph = helper.make_graph(
            self.nodes,
            self.network["name"],
            inputs,
            [self.value(number) for number in outputs or [len(layers) - 1]],
            self.constants,
        )
        opsets = [helper.make_opsetid(*opset) for opset in self.OPSETS]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        onnx.checker.check_model(model)
        return model


def onnx_model(network):
    """`network`: what `run describe NAME` prints, parsed."""
    return ModelWriter(network).model()
