"""The layers of bench/networks as nodes of an ONNX model: a function for every
kind, by its name."""

import numpy as np

# Operators that have neither attributes nor parameters.
PLAIN = {
    "Matmul": "MatMul",
    "Softmax": "Softmax",
    "Relu": "Relu",
    "Sigmoid": "Sigmoid",
    "HardSwish": "HardSwish",
    "Add": "Add",
    "Multiply": "Mul",
    "GlobalAveragePool": "GlobalAveragePool",
}


class LayerNodes:
    """Adds the nodes of one layer to a model's writer; the last has the layer's
    result."""

    def __init__(self, writer, number, layer):
        self.writer, self.number, self.layer = writer, number, layer
        self.kind, self.shape = layer["kind"], layer["shape"]
        self.inputs = ["x%d" % i for i in layer["inputs"]]
        self.output = "x%d" % number

    def add(self):
        if self.kind in PLAIN:
            self.node(PLAIN[self.kind])
        elif self.kind not in KINDS:
            raise ValueError("no ONNX operator for a layer '%s'" % self.kind)
        else:
            KINDS[self.kind](self)

    def node(self, op, *constants, **attributes):
        inputs = [*self.inputs, *constants]
        self.writer.node(op, inputs, self.output, **attributes)

    def step(self, op, *constants, **attributes):
        """A node before the last: its result is the input of the next."""
        name = self.name("step")
        self.writer.node(op, [*self.inputs, *constants], name, **attributes)
        self.inputs = [name]

    def name(self, role):
        return self.writer.name(role, self.number)

    def constant(self, role, array):
        return self.writer.constant(self.name(role), np.asarray(array))

    def number_of(self, role, value):
        return self.constant(role, np.float32(value))

    def integers(self, role, values):
        return self.constant(role, np.array(values, np.int64))

    def parameters(self):
        arrays = self.writer.parameters(self.layer)
        return [self.constant("parameter", array) for array in arrays]


def constant(nodes):
    (array,) = nodes.writer.parameters(nodes.layer)
    nodes.writer.constant(nodes.output, array)


def window_attributes(layer):
    window = layer["window"]
    return {
        "kernel_shape": [window["size"]] * 2,
        "strides": [window["stride"]] * 2,
        "pads": [window["pad"]] * 4,
    }


def conv2d(nodes):
    nodes.node("Conv", *nodes.parameters(), **window_attributes(nodes.layer))


def depthwise_conv2d(nodes):
    weights, bias = nodes.writer.parameters(nodes.layer)
    weights = np.ascontiguousarray(weights.swapaxes(0, 1))  # one per group
    nodes.node(
        "Conv",
        nodes.constant("weights", weights),
        nodes.constant("bias", bias),
        group=nodes.shape[1],
        **window_attributes(nodes.layer),
    )


def deconv2d(nodes):
    weights, bias = nodes.writer.parameters(nodes.layer)
    weights = np.ascontiguousarray(weights.swapaxes(0, 1))  # inputs first
    nodes.node(
        "ConvTranspose",
        nodes.constant("weights", weights),
        nodes.constant("bias", bias),
        **window_attributes(nodes.layer),
    )


def recurrent(nodes, op, gates, **attributes):
    """The layer whose gates stand in the order that ONNX has; the result is of
    its one direction."""
    arrays = nodes.writer.parameters(nodes.layer)

    def joined(first):
        return np.concatenate([arrays[first + gate] for gate in gates])

    of_input, of_state, *biases = map(joined, range(0, len(arrays), len(gates)))
    both = np.zeros(2 * len(of_input), np.float32)  # of input and of state
    both[: sum(map(len, biases))] = np.concatenate(biases)
    nodes.step(
        op,
        nodes.constant("weights", of_input[None]),
        nodes.constant("recurrent", of_state[None]),
        nodes.constant("biases", both[None]),
        hidden_size=nodes.shape[-1],
        **attributes,
    )
    nodes.node("Reshape", nodes.integers("shape", nodes.shape))


def lstm(nodes):
    recurrent(nodes, "LSTM", (0, 3, 1, 2))


def gru(nodes):
    recurrent(nodes, "GRU", (0, 1, 2), linear_before_reset=1)


def fully_connected(nodes):
    nodes.step("Flatten")
    nodes.node("Gemm", *nodes.parameters(), transB=1)


def batch_norm(nodes):
    mean, variance, gamma, beta = nodes.parameters()
    (epsilon,) = nodes.layer["coefficients"]
    constants = gamma, beta, mean, variance
    nodes.node("BatchNormalization", *constants, epsilon=epsilon)


def layer_normalization(nodes):
    beta, gamma = nodes.parameters()
    (epsilon,) = nodes.layer["coefficients"]
    nodes.node("LayerNormalization", gamma, beta, epsilon=epsilon)


def local_response_normalization(nodes):
    size = nodes.layer["window"]["size"]
    alpha, beta, bias = nodes.layer["coefficients"]
    nodes.node("LRN", size=size, alpha=alpha * size, beta=beta, bias=bias)


def relu6(nodes):
    nodes.node("Clip", nodes.number_of("low", 0), nodes.number_of("high", 6))


def hard_sigmoid(nodes):
    alpha, beta = nodes.layer["coefficients"]
    nodes.node("HardSigmoid", alpha=alpha, beta=beta)


def gelu(nodes):
    """As exported for operator sets that have no Gelu; engines fuse it."""
    (x,) = nodes.inputs
    nodes.step("Div", nodes.number_of("root", np.sqrt(2)))
    nodes.step("Erf")
    nodes.step("Add", nodes.number_of("one", 1))
    nodes.step("Mul", x)
    nodes.node("Mul", nodes.number_of("half", 0.5))


def linear(nodes):
    slope, offset = nodes.layer["coefficients"]
    factor = nodes.number_of("slope", slope)
    if offset == 0:
        nodes.node("Mul", factor)
    else:
        nodes.step("Mul", factor)
        nodes.node("Add", nodes.number_of("offset", offset))


def pool(op, **attributes):
    def nodes_of_pool(nodes):
        ceil = int(nodes.layer["window"]["ceil"])
        windows = window_attributes(nodes.layer)
        nodes.node(op, ceil_mode=ceil, **windows, **attributes)

    return nodes_of_pool


def resize(**attributes):
    def nodes_of_resize(nodes):
        sizes = nodes.integers("sizes", nodes.shape)
        nodes.node("Resize", "", "", sizes, **attributes)

    return nodes_of_resize


def concat(nodes):
    nodes.node("Concat", axis=nodes.layer["axis"])


def split(nodes):
    extents = nodes.layer["extents"]
    outputs = ["x%d" % (nodes.number + i) for i in range(len(extents))]
    inputs = [*nodes.inputs, nodes.integers("extents", extents)]
    nodes.writer.node("Split", inputs, *outputs, axis=nodes.layer["axis"])


def part(nodes):
    """A result of the Split."""


def shuffle_channel(nodes):
    axis, groups = nodes.layer["axis"], nodes.layer["groups"]
    shape = nodes.shape
    grouped = [groups, shape[axis] // groups]
    apart = shape[:axis] + grouped + shape[axis + 1 :]
    order = list(range(len(apart)))
    order[axis : axis + 2] = axis + 1, axis
    nodes.step("Reshape", nodes.integers("apart", apart))
    nodes.step("Transpose", perm=order)
    nodes.node("Reshape", nodes.integers("shape", shape))


def strided_slice(nodes):
    begin, stride = nodes.layer["begin"], nodes.layer["stride"]
    ends = [np.iinfo(np.int64).max] * len(begin)
    nodes.node(
        "Slice",
        nodes.integers("begin", begin),
        nodes.integers("ends", ends),
        nodes.integers("axes", range(len(begin))),
        nodes.integers("steps", stride),
    )


def reshape(nodes):
    nodes.node("Reshape", nodes.integers("shape", nodes.shape))


def transpose(nodes):
    nodes.node("Transpose", perm=nodes.layer["permutation"])


def gather(nodes):
    table, rows = nodes.inputs
    nodes.inputs = [rows]
    nodes.step("Cast", to=7)  # TensorProto.INT64
    nodes.inputs = [table, *nodes.inputs]
    nodes.node("Gather", axis=0)


KINDS = {
    "Constant": constant,
    "Conv2d": conv2d,
    "DepthwiseConv2d": depthwise_conv2d,
    "DeConv2d": deconv2d,
    "Lstm": lstm,
    "Gru": gru,
    "FullyConnected": fully_connected,
    "BatchNorm": batch_norm,
    "LayerNormalization": layer_normalization,
    "LocalResponseNormalization": local_response_normalization,
    "Relu6": relu6,
    "HardSigmoid": hard_sigmoid,
    "Gelu": gelu,
    "Linear": linear,
    "MaxPool": pool("MaxPool"),
    "AveragePool": pool("AveragePool", count_include_pad=1),
    "ResizeNearest": resize(
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    ),
    "ResizeBilinear": resize(
        mode="linear", coordinate_transformation_mode="half_pixel"
    ),
    "Concat": concat,
    "Split": split,
    "Part": part,
    "ShuffleChannel": shuffle_channel,
    "StridedSlice": strided_slice,
    "Reshape": reshape,
    "Transpose": transpose,
    "Gather": gather,
}
