"""The 8-bit networks of bench/networks as ONNX models with the same codes, in
the two forms that there are: with operators on codes ("qoperator"), and with
float32 operators between DequantizeLinear and QuantizeLinear ("qdq").

The first has the second around what has no operator on codes: HardSwish and
HardSigmoid.  A Relu behind a sum of products needs none, as its codes begin
with 0.  Results in int8 become uint8 with a zero point 128 higher, which are
the same numbers: on x86, ONNX Runtime is fast with these alone.
"""

import numpy as np

from onnx_layers import LayerNodes, window_attributes
from onnx_model import ModelWriter

TYPES = {"int8": np.int8, "uint8": np.uint8, "int32": np.int32}
CONTRIBUTED = "com.microsoft"


def encode(values, codes):
    """What Encode() of bench/networks/codes.h makes, bit for bit."""
    dtype = TYPES[codes["type"]]
    rounded = np.rint(values / along_axis(codes, values.ndim))
    limits = np.iinfo(dtype)
    moved = rounded.astype(np.float64) + codes["zero_point"]
    return np.clip(moved, limits.min, limits.max).astype(dtype)


def along_axis(codes, rank):
    """The scales, as an array of that rank."""
    scales = np.array(codes["scales"], np.float32)
    shape = [1] * rank
    shape[codes["axis"]] = scales.size
    return scales.reshape(shape)


def unsigned(codes):
    """For the same numbers."""
    if codes["type"] != "int8":
        return codes
    return {**codes, "type": "uint8", "zero_point": codes["zero_point"] + 128}


def is_relu(layer):
    return layer["kind"] in ("Relu", "Relu6")


class QdqNodes(LayerNodes):
    """Float32 nodes of a layer, from codes to codes."""

    def __init__(self, writer, number, layer):
        super().__init__(writer, number, layer)
        self.sources = layer["inputs"]

    def add(self):
        if self.kind == "DataConvert":
            self.convert()
            return
        if self.kind == "FullyConnected":
            self.step("Flatten")
        self.inputs = list(map(self.real, self.inputs, self.sources))
        if self.writer.is_real(self.number):
            self.add_real()
            return
        result, self.output = self.output, self.name("real")
        self.add_real()
        constants = self.writer.codes_of(self.number)
        self.writer.node("QuantizeLinear", [self.output, *constants], result)

    def convert(self):
        (source,) = self.sources
        if self.writer.is_real(source):
            self.node("QuantizeLinear", *self.writer.codes_of(self.number))
        else:
            self.node("DequantizeLinear", *self.writer.codes_of(source))

    def real(self, name, number):
        """`name` in float32, which has the codes of that layer's result."""
        if self.writer.is_real(number):
            return name
        return self.decoded([name, *self.writer.codes_of(number)])

    def decoded(self, inputs, **attributes):
        name = self.name("real")
        self.writer.node("DequantizeLinear", inputs, name, **attributes)
        return name

    def add_real(self):
        if self.kind not in SUMS:
            super().add()
            return
        op, attributes = SUMS[self.kind](self)
        constants = [self.decoded(x, axis=0) for x in self.coded_parameters()]
        self.node(op, *constants, **attributes)

    def coded_parameters(self):
        """Of weights and bias the names of codes, scales and zero points; their
        channels are on axis 0."""
        arrays = self.writer.parameters(self.layer)
        for array, parameter in zip(arrays, self.layer["parameters"]):
            codes = encode(array, parameter["codes"])
            if self.kind == "DepthwiseConv2d" and codes.ndim == 4:
                codes = np.ascontiguousarray(codes.swapaxes(0, 1))
            name = self.constant("codes", codes)
            yield [name, *self.writer.scale_and_zero_point(parameter["codes"])]


def convolution(nodes):
    attributes = window_attributes(nodes.layer)
    if nodes.kind == "DepthwiseConv2d":
        attributes["group"] = nodes.shape[1]
    return "Conv", attributes


# Layers with weights: their operator and its attributes.
SUMS = {
    "Conv2d": convolution,
    "DepthwiseConv2d": convolution,
    "FullyConnected": lambda nodes: ("Gemm", {"transB": 1}),
}


class QOperatorNodes(QdqNodes):
    """Nodes on codes, where ONNX or ONNX Runtime has them."""

    def add(self):
        if self.kind in OPERATORS:
            OPERATORS[self.kind](self)
        elif self.has_codes_of_input():
            self.node("Identity")
        else:
            super().add()

    def has_codes_of_input(self):
        """Then a Relu has nothing to cut off."""
        if not is_relu(self.layer):
            return False
        source = self.writer.network["layers"][self.sources[0]]
        return source["codes"] == self.layer["codes"]

    def coded(self):
        """Codes, scale and zero point of every input, one behind the other."""
        names = []
        for name, number in zip(self.inputs, self.sources):
            names += [name, *self.writer.codes_of(number)]
        return names

    def on_codes(self, op, inputs, **attributes):
        self.writer.node(op, inputs, self.output, **attributes)


def qlinear_conv(nodes):
    weights, *bias = nodes.coded_parameters()
    op, attributes = convolution(nodes)
    inputs = [*nodes.coded(), *weights, *nodes.writer.codes_of(nodes.number)]
    inputs += [codes for codes, _, _ in bias]
    nodes.on_codes("QLinear" + op, inputs, **attributes)


def qgemm(nodes):
    nodes.step("Flatten")
    weights, (bias, _, _) = nodes.coded_parameters()
    result = nodes.writer.codes_of(nodes.number)
    inputs = [*nodes.coded(), *weights, bias, *result]
    nodes.on_codes("QGemm", inputs, transB=1, domain=CONTRIBUTED)


def qlinear(op):
    def nodes_of_qlinear(nodes):
        inputs = [*nodes.coded(), *nodes.writer.codes_of(nodes.number)]
        nodes.on_codes("QLinear" + op, inputs, domain=CONTRIBUTED)

    return nodes_of_qlinear


def max_pool(nodes):
    nodes.node("MaxPool", **window_attributes(nodes.layer))


OPERATORS = {
    "Conv2d": qlinear_conv,
    "DepthwiseConv2d": qlinear_conv,
    "FullyConnected": qgemm,
    "Add": qlinear("Add"),
    "Multiply": qlinear("Mul"),
    "GlobalAveragePool": qlinear("GlobalAveragePool"),
    "MaxPool": max_pool,
}


class QuantizedWriter(ModelWriter):
    OPSETS = [("", 17), (CONTRIBUTED, 1)]

    def __init__(self, network, form):
        super().__init__(network)
        self.form = form
        self.layer_nodes = FORMS[form]
        self.named = {}

    def is_real(self, number):
        """Whether the result of the layer is float32 in the model: those of the
        ends, and in "qdq" what only a Relu reads, as exporters leave it."""
        layers = self.network["layers"]
        layer = layers[number]
        if layer["codes"]["type"] == "float32":
            return True
        readers = [each for each in layers if number in each["inputs"]]
        return self.form == "qdq" and len(readers) == 1 and is_relu(readers[0])

    def codes_of(self, number):
        """Names of the scale and the zero point of a layer's result."""
        if number not in self.named:
            codes = unsigned(self.network["layers"][number]["codes"])
            self.named[number] = self.scale_and_zero_point(codes)
        return self.named[number]

    def scale_and_zero_point(self, codes):
        scales = np.array(codes["scales"], np.float32)
        if scales.size == 1:
            scales = scales.reshape(())
        zeros = np.full(scales.shape, codes["zero_point"], TYPES[codes["type"]])
        names = "scale%d" % len(self.constants), "zero%d" % len(self.constants)
        return [self.constant(*pair) for pair in zip(names, (scales, zeros))]


FORMS = {"qoperator": QOperatorNodes, "qdq": QdqNodes}


def quantized_model(network, form):
    """`network`: what `run describe NAME --type int8` prints, parsed."""
    return QuantizedWriter(network, form).model()
