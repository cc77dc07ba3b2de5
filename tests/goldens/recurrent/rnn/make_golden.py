"""Goldens of UnidirectionalSequenceRnn and BidirectionalSequenceRnn.

Oracle: Keras' SimpleRNN in float64 over several steps; its hard sigmoid is
0.2 x + 0.5 (Keras 2). Where PyTorch's RNN has the activation, its result in
float64 is compared. The auxiliary input is more of the input, its weights more
of the weights. Cases "hybrid_lite" are TensorFlow Lite's kernel of float inputs
and 8-bit weights, which quantizes inputs and states to 8 bits, too: hence their
tolerance."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import keras
import tflite
import torch
from golden_format import NONE, Case, Suite, Tensor, close, fixed_point, per_channel, per_tensor, store

RELU, RELU1, RELU6, TANH, SIGMOID, HARD = 1, 2, 3, 4, 6, 31
FUNCTIONS = {
    0: "tanh",
    RELU: "relu",
    RELU1: lambda x: keras.backend.clip(x, -1.0, 1.0),
    RELU6: lambda x: keras.activations.relu(x, max_value=6),
    TANH: "tanh",
    SIGMOID: "sigmoid",
    HARD: "hard_sigmoid",
}

F32 = ("float32", NONE)
F16 = ("float16", NONE)
U8 = ("uint8", per_tensor(1 / 127, 127))
I8 = ("int8", per_tensor(1 / 100, -3))
WU8 = ("uint8", per_tensor(1 / 200, 120))
WI8 = ("int8", per_tensor(1 / 150))
BIAS = ("int32", per_tensor(1e-4))

# name: x, weights, biases, state, output
TYPES = {
    "f32": (F32, F32, F32, F32, F32),
    "f16": (F16, F16, F16, F16, F16),
    "f16_f32": (F16, F32, F32, F32, F32),
    "u8": (U8, WU8, BIAS, U8, U8),
    "i8": (I8, WI8, BIAS, I8, I8),
    "i16": (("int16", per_tensor(1e-4)), WI8, BIAS, ("int16", per_tensor(1e-4)),
            ("int16", per_tensor(1e-4))),
    "i8_fixed": (("int8", fixed_point(6)), ("int8", fixed_point(7)), F32, ("int8", fixed_point(6)),
                 ("int8", fixed_point(6))),
    "hybrid_u8": (F32, WU8, F32, F32, F32),
    "hybrid_i8": (F32, WI8, F32, F32, F32),
    "hybrid_f16": (F16, WI8, F32, F16, F16),
    "f32_u8": (F32, F32, F32, U8, U8),
}
I, U, B, T = 5, 7, 3, 4


def layer(x, weights, recurrent, bias, state, activation):
    """All states [B, T, U], batch-major, of row-major float64 arrays: x [B, T, I],
    weights [U, I], recurrent [U, U]."""
    units = len(weights)
    cell = keras.layers.SimpleRNN(units, activation=FUNCTIONS[activation],
                                  return_sequences=True, dtype="float64")
    cell.build(x.shape)
    cell.set_weights([weights.T, recurrent.T, bias])
    out = cell(x, initial_state=tflite.tensorflow.constant(state)).numpy()
    if activation in (TANH, RELU):
        module = torch.nn.RNN(x.shape[2], units, batch_first=True, dtype=torch.float64,
                              nonlinearity="tanh" if activation == TANH else "relu")
        with torch.no_grad():
            module.weight_ih_l0.copy_(torch.from_numpy(weights))
            module.weight_hh_l0.copy_(torch.from_numpy(recurrent))
            module.bias_ih_l0.copy_(torch.from_numpy(bias))
            module.bias_hh_l0.zero_()
            other = module(torch.from_numpy(x.copy()), torch.from_numpy(np.asarray(state)[None]))[0]
        assert np.allclose(out, other.numpy(), atol=1e-12, rtol=1e-12)
    return out


def draw(rng, kind, *shape, limit=1.0):
    return store(rng.uniform(-limit, limit, shape), *kind, slack=-1, error=0)


def result(real, kind):
    return store(real, *kind, magnitude=2.0, error=4e-7, slack=1e-3)


class Direction:
    def __init__(self, rng, kinds, width, units, optional=True, state=True, aux=0):
        weight = kinds[1]
        limit = 0.8 / np.sqrt(width)
        self.weights = draw(rng, weight, units, width, limit=limit).const()
        self.recurrent = draw(rng, weight, units, units, limit=0.8 / np.sqrt(units)).const()
        self.biases = [draw(rng, kinds[2], units, limit=0.5) if optional else None for _ in "bc"]
        self.state = draw(rng, kinds[3], B, units) if state else None
        self.aux = draw(rng, weight, units, aux, limit=limit) if aux else None
        self.units = units

    def inputs(self):
        return [self.weights, self.recurrent, *self.biases, self.state]

    def run(self, x, aux, activation):
        bias = sum((b.real() for b in self.biases if b), np.zeros(self.units))
        state = self.state.real() if self.state else np.zeros((B, self.units))
        weights = self.weights.real()
        if aux is not None:
            x = np.concatenate([x, aux], axis=2)
            weights = np.concatenate([weights, self.aux.real()], axis=1)
        return layer(x, weights, self.recurrent.real(), bias, state, activation)


def order(batch_major, time_major):
    return np.swapaxes(batch_major, 0, 1) if time_major else batch_major


def unidirectional(rng, kinds, activation, time_major, optional=True, state=True):
    direction = Direction(rng, kinds, I, U, optional, state)
    x = draw(rng, kinds[0], *((T, B) if time_major else (B, T)), I)
    states = direction.run(order(x.real(), time_major), None, activation)
    inputs = [x, *direction.inputs()]
    while inputs[-1] is None:
        inputs.pop()
    return Case("tim.UnidirectionalSequenceRnn",
                {"activation": activation, "time_major": time_major}, inputs,
                [result(states[:, -1], kinds[4]), result(order(states, time_major), kinds[4])],
                close(3e-6, 1e-6))


def bidirectional(rng, kinds, activation, time_major, merge, aux=0, units=U, optional=True):
    forward = Direction(rng, kinds, I, U, optional, optional, aux)
    backward = Direction(rng, kinds, I, units, optional, optional, aux)
    shape = (T, B) if time_major else (B, T)
    x = draw(rng, kinds[0], *shape, I)
    extra = draw(rng, kinds[0], *shape, aux) if aux else None
    real = order(x.real(), time_major)
    more = order(extra.real(), time_major) if aux else None
    ahead = forward.run(real, more, activation)
    back = backward.run(real[:, ::-1], None if more is None else more[:, ::-1], activation)
    outputs = [ahead[:, -1], back[:, -1]]
    back = back[:, ::-1]
    sequences = [np.concatenate([ahead, back], axis=2)] if merge else [ahead, back]
    outputs += [order(s, time_major) for s in sequences]
    inputs = [x, *forward.inputs(), *backward.inputs()]
    if aux:
        inputs += [extra, forward.aux, backward.aux]
    while inputs[-1] is None:
        inputs.pop()
    return Case("tim.BidirectionalSequenceRnn",
                {"activation": activation, "time_major": time_major, "merge_outputs": merge},
                inputs, [result(o, kinds[4]) for o in outputs], close(3e-6, 1e-6))


def hybrid_lite(rng):
    """TensorFlow Lite takes time-major or batch-major inputs; tanh."""
    scale = float(np.float32(1 / 300))
    weights = rng.integers(-127, 128, (U, I)).astype(np.int8)
    recurrent = rng.integers(-127, 128, (U, U)).astype(np.int8)
    bias = rng.uniform(-0.5, 0.5, U).astype(np.float32)
    options = tflite.schema.SequenceRNNOptionsT()
    options.timeMajor = True
    options.fusedActivationFunction = tflite.schema.ActivationFunctionType.TANH
    lite = tflite.Operator("UNIDIRECTIONAL_SEQUENCE_RNN", options, [
        (T, B, I), (weights, scale), (recurrent, scale), bias,
        tflite.Operator.State(B, U)], [(T, B, U)], version=2)
    x = rng.uniform(-1, 1, (T, B, I)).astype(np.float32)
    out, state = lite.run(x)
    assert np.array_equal(out[-1], state)
    quantized = [Tensor("int8", a, per_tensor(1 / 300)).const() for a in (weights, recurrent)]
    return Case("tim.UnidirectionalSequenceRnn", {"activation": TANH, "time_major": True},
                [Tensor("float32", x), *quantized, Tensor("float32", bias)],
                [Tensor("float32", state), Tensor("float32", out)], close(0.01))


def main():
    suite = Suite(__file__, keras, torch, tflite.tensorflow)
    for name, kinds in TYPES.items():
        suite.add(f"uni_{name}_tanh_time_major",
                  lambda rng: unidirectional(rng, kinds, TANH, True))
        suite.add(f"uni_{name}_sigmoid", lambda rng: unidirectional(rng, kinds, SIGMOID, False))
        suite.add(f"bi_{name}_tanh", lambda rng: bidirectional(rng, kinds, TANH, False, False))
        suite.add(f"bi_{name}_relu_merged",
                  lambda rng: bidirectional(rng, kinds, RELU, True, True))
    for activation in FUNCTIONS:
        suite.add(f"uni_f32_activation{activation}",
                  lambda rng: unidirectional(rng, TYPES["f32"], activation, False))
        suite.add(f"bi_f32_activation{activation}",
                  lambda rng: bidirectional(rng, TYPES["f32"], activation, True, False))
    for name in ("f32", "u8"):
        suite.add(f"uni_{name}_bare", lambda rng: unidirectional(
            rng, TYPES[name], TANH, True, False, False))
        suite.add(f"uni_{name}_state", lambda rng: unidirectional(
            rng, TYPES[name], TANH, False, False, True))
        suite.add(f"bi_{name}_bare", lambda rng: bidirectional(
            rng, TYPES[name], TANH, False, True, optional=False))
        suite.add(f"bi_{name}_aux", lambda rng: bidirectional(
            rng, TYPES[name], TANH, False, False, aux=4))
        suite.add(f"bi_{name}_aux_merged", lambda rng: bidirectional(
            rng, TYPES[name], SIGMOID, True, True, aux=5))
        suite.add(f"bi_{name}_uneven_merged", lambda rng: bidirectional(
            rng, TYPES[name], TANH, False, True, units=9))
    scales = [1 / (100 + 10 * u) for u in range(U)]
    channels = (F32, ("int8", per_channel(1, scales)), F32, F32, F32)
    suite.add("uni_i8_channel", lambda rng: unidirectional(rng, channels, TANH, True))
    suite.add("uni_hybrid_lite", hybrid_lite)
    suite.write()


if __name__ == "__main__":
    main()
