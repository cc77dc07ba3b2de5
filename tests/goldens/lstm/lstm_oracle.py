"""LSTM layers in float64, and the programs that they are compared with.

`layer` is the formula of the operator specification (NNAPI's meaning) in NumPy;
`check` runs the same layer through every program that has its options:
PyTorch in float64 (projection, both biases), ONNX Runtime in float32 (peepholes,
coupled gates, activations) and TensorFlow Lite (all but aux input, second biases
and hard sigmoid; also with int8 weights, where it rounds the inputs to 8 bits).
"""

import os
import sys

import flatbuffers
import numpy as np
import tensorflow as tf
import torch
from tensorflow.lite.python import schema_py_generated as schema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from oracle import run_onnx_all

ACTIVATIONS = {
    "none": (0, lambda x: x),
    "relu": (1, lambda x: np.maximum(x, 0)),
    "relu6": (2, lambda x: np.clip(x, 0, 6)),
    "tanh": (3, np.tanh),
    "sigmoid": (4, lambda x: 1 / (1 + np.exp(-x))),
    "hard_sigmoid": (5, lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    "relu1": (7, lambda x: np.clip(x, -1, 1)),
}
GATES = "ifco"


class Layer:
    """Weights W, A, R and parameters as dicts by gate; absent ones are missing.

    W[g]: (U, I); A[g]: (U, J); R[g]: (U, P); p[g], b[g], rb[g], n[g]: (U,);
    Q: (P, U); qb: (P,).
    """

    def __init__(self, W, R, A=None, p=None, b=None, rb=None, n=None, Q=None, qb=None,
                 cell_clip=0.0, proj_clip=0.0, forget_bias=0.0, act="tanh", rho="sigmoid"):
        self.W, self.R, self.A = W, R, A or {}
        self.p, self.b, self.rb, self.n = p or {}, b or {}, rb or {}, n or {}
        self.Q, self.qb = Q, qb
        self.cell_clip, self.proj_clip, self.forget_bias = cell_clip, proj_clip, forget_bias
        self.act, self.rho = act, rho

    @property
    def units(self):
        return self.W["f"].shape[0]

    @property
    def outputs(self):
        return self.units if self.Q is None else self.Q.shape[0]


def layer(of, x, h, c, aux=None):
    """x: (T, B, I), aux: (T, B, J); returns all h (T, B, P), the last h and c."""
    act, rho = ACTIVATIONS[of.act][1], ACTIVATIONS[of.rho][1]
    sequence = []
    for t in range(x.shape[0]):
        def gate(g, function, cell):
            v = x[t] @ of.W[g].T + h @ of.R[g].T
            if of.A:
                v = v + aux[t] @ of.A[g].T
            if g in of.p:
                v = v + of.p[g] * cell
            if of.n:
                mean = v.mean(axis=1, keepdims=True)
                variance = v.var(axis=1, keepdims=True)
                v = (v - mean) / np.sqrt(variance + 1e-8) * of.n[g]
            v = v + of.b.get(g, 0) + of.rb.get(g, 0)
            return function(v + of.forget_bias if g == "f" else v)

        f = gate("f", rho, c)
        i = gate("i", rho, c) if "i" in of.W else 1 - f
        c = f * c + i * gate("c", act, c)
        if of.cell_clip > 0:
            c = np.clip(c, -of.cell_clip, of.cell_clip)
        h = gate("o", rho, c) * act(c)
        if of.Q is not None:
            h = h @ of.Q.T + (0 if of.qb is None else of.qb)
            if of.proj_clip > 0:
                h = np.clip(h, -of.proj_clip, of.proj_clip)
        sequence.append(h)
    return np.stack(sequence), h, c


# ---- PyTorch ----------------------------------------------------------------


def fits_torch(of):
    return ("i" in of.W and not (of.p or of.n) and of.qb is None and of.cell_clip <= 0
            and (of.Q is None or (of.proj_clip <= 0 and of.outputs < of.units))
            and (of.act, of.rho) == ("tanh", "sigmoid"))


def run_torch(of, x, h, c, aux):
    if of.A:  # one input of both
        x = np.concatenate([x, aux], axis=2)
    proj = 0 if of.Q is None else of.outputs
    module = torch.nn.LSTM(x.shape[2], of.units, proj_size=proj, dtype=torch.float64)
    zero = np.zeros(of.units)
    weights = [np.concatenate([of.W[g], of.A[g]], axis=1) if of.A else of.W[g] for g in GATES]
    biases = [of.b.get(g, zero) + (of.forget_bias if g == "f" else 0) for g in GATES]
    with torch.no_grad():
        for name, rows in [("weight_ih_l0", weights), ("weight_hh_l0", [of.R[g] for g in GATES]),
                           ("bias_ih_l0", biases), ("bias_hh_l0", [of.rb.get(g, zero) for g in GATES])]:
            getattr(module, name).copy_(torch.from_numpy(np.concatenate(rows)))
        if of.Q is not None:
            module.weight_hr_l0.copy_(torch.from_numpy(of.Q))
        y, (last, cell) = module(torch.from_numpy(x), (torch.from_numpy(h)[None],
                                                       torch.from_numpy(c)[None]))
    return y.numpy(), last[0].numpy(), cell[0].numpy()


# ---- ONNX Runtime -----------------------------------------------------------

ONNX_NAMES = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid", "hard_sigmoid": "HardSigmoid"}


def fits_onnx(of):
    return (not of.n and of.Q is None and of.cell_clip <= 0 and of.act in ONNX_NAMES
            and of.rho in ONNX_NAMES and ("i" in of.W or of.rho == "sigmoid"))


def run_onnx_lstm(of, x, h, c, aux):
    """Its coupled gate is f = 1 - i: i of negated weights is our 1 - f."""
    if of.A:
        x = np.concatenate([x, aux], axis=2)
    sign = {g: 1.0 for g in GATES}
    source = {g: g for g in GATES}
    if "i" not in of.W:
        sign["i"], source["i"] = -1.0, "f"
    zero = np.zeros(of.units)

    def rows(values, gates):
        return np.concatenate([sign[g] * values(source[g]) for g in gates])[None].astype(np.float32)

    def weights(g):
        return np.concatenate([of.W[g], of.A[g]], axis=1) if of.A else of.W[g]

    def bias(g):
        return of.b.get(g, zero) + (of.forget_bias if g == "f" else 0)

    B = np.concatenate([rows(bias, "iofc"), rows(lambda g: of.rb.get(g, zero), "iofc")], axis=1)
    P = rows(lambda g: of.p.get(g, zero), "iof")
    alpha = [0.2] * 3
    beta = [0.5] * 3
    y, last, cell = run_onnx_all(
        "LSTM", [x.astype(np.float32), rows(weights, "iofc"), rows(lambda g: of.R[g], "iofc"), B,
                 None, h[None].astype(np.float32), c[None].astype(np.float32), P], 3,
        hidden_size=of.units, input_forget=int("i" not in of.W),
        activations=[ONNX_NAMES[of.rho], ONNX_NAMES[of.act], ONNX_NAMES[of.act]],
        activation_alpha=alpha, activation_beta=beta)
    return y[:, 0], last[0], cell[0]


# ---- TensorFlow Lite --------------------------------------------------------

TFLITE_ACTIVATIONS = {"relu": 1, "relu6": 3, "tanh": 4}


def fits_tflite(of):
    # Its peepholes are all there or none.
    return (not of.A and not of.rb and of.b and of.act in TFLITE_ACTIVATIONS
            and of.rho == "sigmoid")


def _tensor(array, buffers, dtype=schema.TensorType.FLOAT32, variable=False, data=True,
            scale=None):
    tensor = schema.TensorT()
    tensor.shape = list(array.shape)
    tensor.type = dtype
    tensor.isVariable = variable
    tensor.name = f"t{len(buffers)}"
    buffer = schema.BufferT()
    if data:
        buffer.data = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
    buffers.append(buffer)
    tensor.buffer = len(buffers) - 1
    if scale is not None:
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale = [scale]
        tensor.quantization.zeroPoint = [0]
    return tensor


def _model(of, x, scales):
    """scales: None, or those of int8 weights by (kind, gate)."""
    buffers = [schema.BufferT()]
    tensors = []

    def add(array, **options):
        tensors.append(_tensor(array, buffers, **options))
        return len(tensors) - 1

    def floats(array):
        return -1 if array is None else add(array.astype(np.float32))

    def weights(array, scale):
        if array is None:
            return -1
        if scale is None:
            return floats(array)
        codes = np.rint(array / scale).astype(np.int8)
        return add(codes, dtype=schema.TensorType.INT8, scale=scale)

    def scale(kind, gate=None):
        return None if scales is None else scales[kind, gate]

    zero = np.zeros(of.units)
    inputs = [add(x.astype(np.float32), data=False)]
    for kind, values in (("W", of.W), ("R", of.R)):
        inputs += [weights(values.get(g), scale(kind, g)) for g in GATES]
    for g in "ifo":  # In hybrid kernels they are quantized as well.
        inputs.append(weights(of.p.get(g), scale("p", g) if g in of.p else None))
    for g in GATES:
        bias = of.b.get(g, zero) + (of.forget_bias if g == "f" else 0)
        inputs.append(-1 if g not in of.W else floats(bias))
    inputs += [weights(of.Q, scale("Q") if of.Q is not None else None), floats(of.qb)]
    states = [add(np.zeros((x.shape[1], n), np.float32), variable=True, data=False)
              for n in (of.outputs, of.units)]
    inputs += states
    inputs += [floats(of.n.get(g)) for g in GATES]
    output = add(np.zeros((x.shape[0], x.shape[1], of.outputs), np.float32), data=False)

    options = schema.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction = TFLITE_ACTIVATIONS[of.act]
    options.cellClip = max(of.cell_clip, 0.0)
    options.projClip = max(of.proj_clip, 0.0)
    options.timeMajor = True
    operator = schema.OperatorT()
    operator.opcodeIndex = 0
    operator.inputs, operator.outputs = inputs, [output]
    operator.builtinOptionsType = schema.BuiltinOptions.UnidirectionalSequenceLSTMOptions
    operator.builtinOptions = options
    graph = schema.SubGraphT()
    graph.tensors, graph.operators = tensors, [operator]
    graph.inputs, graph.outputs = [inputs[0]], [output]
    code = schema.OperatorCodeT()
    code.builtinCode = schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM
    code.deprecatedBuiltinCode = code.builtinCode
    code.version = 1 if scales is None else 3
    model = schema.ModelT()
    model.version = 3
    model.operatorCodes, model.subgraphs, model.buffers = [code], [graph], buffers
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output()), inputs[0], states, output


def run_tflite(of, x, h, c, scales=None):
    content, at, states, output = _model(of, x, scales)
    interpreter = tf.lite.Interpreter(
        model_content=content,
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    interpreter.allocate_tensors()
    interpreter.set_tensor(at, x.astype(np.float32))
    for tensor, value in zip(states, (h, c)):
        interpreter.set_tensor(tensor, value.astype(np.float32))
    interpreter.invoke()
    last, cell = (interpreter.get_tensor(tensor) for tensor in states)
    return interpreter.get_tensor(output), last, cell


def check(of, x, h, c, aux, found):
    """Asserts that the programs that have the options agree; returns which do."""
    agreed = []
    for name, fits, run, tolerance in (("torch", fits_torch, run_torch, 1e-12),
                                       ("onnx", fits_onnx, run_onnx_lstm, 5e-6)):
        if fits(of):
            compare(name, run(of, x, h, c, aux), found, tolerance)
            agreed.append(name)
    if fits_tflite(of):
        compare("tflite", run_tflite(of, x, h, c), found, 5e-6)
        agreed.append("tflite")
    return agreed


def compare(name, one, other, tolerance):
    for a, b in zip(one, other):
        worst = np.abs(a - b).max()
        assert worst < tolerance * max(1.0, np.abs(b).max()), (name, worst)
