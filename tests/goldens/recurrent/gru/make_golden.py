"""Goldens of GRUCell and UnidirectionalSequenceGRU.

Oracle: Keras' GRU in float64 over several steps; its hard sigmoid is
0.2 x + 0.5 (Keras 2). Where PyTorch's GRU computes the same (tanh, sigmoid,
reset_after), its result in float64 is compared. Steps of GRUCell feed its state
back."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import tensorflow
import torch
from golden_format import NONE, Case, Suite, close, fixed_point, per_channel, per_tensor, store

NO, RELU, RELU6, TANH, SIGMOID, HARD = 0, 1, 3, 4, 6, 31
FUNCTIONS = {
    NO: "linear",
    RELU: "relu",
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

# name: x, state, kernels, biases, output
TYPES = {
    "f32": (F32, F32, F32, F32, F32),
    "f16": (F16, F16, F16, F16, F16),
    "f16_f32": (F16, F32, F32, F32, F32),
    "u8": (U8, U8, WU8, BIAS, U8),
    "i8": (I8, I8, WI8, BIAS, I8),
    "i16": (("int16", per_tensor(1e-4)), ("int16", per_tensor(1e-4)), WI8, BIAS,
            ("int16", per_tensor(1e-4))),
    "i8_fixed": (("int8", fixed_point(6)), ("int8", fixed_point(6)), ("int8", fixed_point(7)), F32,
                 ("int8", fixed_point(6))),
    "hybrid_u8": (F32, F32, WU8, F32, F32),
    "hybrid_i8": (F32, F32, WI8, F32, F32),
    "hybrid_f16": (F16, F16, WI8, F32, F16),
    "f32_u8": (F32, U8, F32, F32, U8),
}
I, U, B, T = 5, 7, 3, 4


def layer(x, kernels, recurrent, biases, more_biases, state, activation, gates, reset_after):
    """All states [B, T, U] of x [B, T, I]; kernels [U, I] of the gates z, r, h."""
    bias, more = np.concatenate(biases), np.concatenate(more_biases)
    keras_gru = keras.layers.GRU(len(kernels[0]), activation=FUNCTIONS[activation],
                                 recurrent_activation=FUNCTIONS[gates], reset_after=reset_after,
                                 return_sequences=True, dtype="float64")
    keras_gru.build(x.shape)
    keras_gru.set_weights([np.concatenate(kernels).T, np.concatenate(recurrent).T,
                           np.stack([bias, more]) if reset_after else bias + more])
    out = keras_gru(x, initial_state=tensorflow.constant(state)).numpy()
    if reset_after and activation == TANH and gates == SIGMOID:
        z, r, h = range(3)
        pick = lambda parts: torch.from_numpy(np.concatenate([parts[r], parts[z], parts[h]]))
        module = torch.nn.GRU(x.shape[2], len(kernels[0]), batch_first=True, dtype=torch.float64)
        with torch.no_grad():
            module.weight_ih_l0.copy_(pick(kernels))
            module.weight_hh_l0.copy_(pick(recurrent))
            module.bias_ih_l0.copy_(pick(biases))
            module.bias_hh_l0.copy_(pick(more_biases))
            other = module(torch.from_numpy(x.copy()), torch.from_numpy(state[None].copy()))[0]
        assert np.allclose(out, other.numpy(), atol=1e-12, rtol=1e-12)
    return out


def draw(rng, kind, *shape, limit=1.0):
    return store(rng.uniform(-limit, limit, shape), *kind, slack=-1, error=0)


def result(real, kind):
    return store(real, *kind, magnitude=2.0, error=4e-7, slack=1e-3)


class Weights:
    def __init__(self, rng, kinds, biases=True):
        gates = range(3)
        self.kernels = [draw(rng, kinds[2], U, I, limit=0.8 / np.sqrt(I)).const() for _ in gates]
        self.recurrent = [draw(rng, kinds[2], U, U, limit=0.8 / np.sqrt(U)).const() for _ in gates]
        self.biases = [draw(rng, kinds[3], U, limit=0.5) if biases else None for _ in range(6)]

    def inputs(self):
        biases = self.biases if self.biases[0] else []
        return [*self.kernels, *self.recurrent, *biases]

    def run(self, x, state, activation, gates, reset_after):
        biases = [b.real() if b else np.zeros(U) for b in self.biases]
        real = lambda tensors: [t.real() for t in tensors]
        return layer(x, real(self.kernels), real(self.recurrent), biases[:3], biases[3:],
                     state, activation, gates, reset_after)


def order(batch_major, time_major):
    return np.swapaxes(batch_major, 0, 1) if time_major else batch_major


def sequence(rng, kinds, time_major=True, every_step=True, reset_after=True, activation=TANH,
             gates=SIGMOID, biases=True, has_state=True):
    weights = Weights(rng, kinds, biases)
    x = draw(rng, kinds[0], *((T, B) if time_major else (B, T)), I)
    state = draw(rng, kinds[1], B, U) if has_state else None
    states = weights.run(order(x.real(), time_major),
                         state.real() if state else np.zeros((B, U)), activation, gates,
                         reset_after)
    out = order(states, time_major) if every_step else states[:, -1]
    attributes = {"num_units": U, "activation": activation, "recurrent_activation": gates,
                  "reset_after": reset_after, "return_sequences": every_step,
                  "time_major": time_major}
    return Case("tim.UnidirectionalSequenceGRU", attributes, [x, state, *weights.inputs()],
                [result(out, kinds[4]), result(states[:, -1], kinds[4])], close(3e-6, 1e-6))


def cell(rng, kinds, steps=1, reset_after=True, activation=TANH, gates=SIGMOID, biases=True):
    weights = Weights(rng, kinds, biases)
    state = draw(rng, kinds[1], B, U)
    for _ in range(steps):
        x = draw(rng, kinds[0], B, I)
        real = weights.run(x.real()[:, None], state.real(), activation, gates, reset_after)[:, 0]
        before, state = state, result(real, kinds[4])
    attributes = {"num_units": U, "activation": activation, "recurrent_activation": gates,
                  "reset_after": reset_after}
    return Case("tim.GRUCell", attributes, [x, before, *weights.inputs()],
                [state, result(real, kinds[4])], close(3e-6, 1e-6))


def main():
    suite = Suite(__file__, keras, torch, tensorflow)
    for name, kinds in TYPES.items():
        for after in (True, False):
            suffix = "" if after else "_reset_before"
            suite.add(f"{name}_all_steps{suffix}",
                      lambda rng: sequence(rng, kinds, reset_after=after))
            suite.add(f"{name}_last_step{suffix}", lambda rng: sequence(
                rng, kinds, time_major=False, every_step=False, reset_after=after))
            suite.add(f"{name}_cell{suffix}", lambda rng: cell(rng, kinds, reset_after=after))
    f32 = TYPES["f32"]
    for function in FUNCTIONS:
        for after in (True, False):
            suffix = "" if after else "_reset_before"
            suite.add(f"f32_activation{function}{suffix}", lambda rng: sequence(
                rng, f32, activation=function, reset_after=after))
            suite.add(f"f32_recurrent{function}{suffix}", lambda rng: sequence(
                rng, f32, gates=function, time_major=False, reset_after=after))
            suite.add(f"f32_cell_activation{function}{suffix}", lambda rng: cell(
                rng, f32, activation=function, gates=HARD, reset_after=after))
    for name in ("f32", "u8"):
        suite.add(f"{name}_bare", lambda rng: sequence(
            rng, TYPES[name], biases=False, has_state=False))
        suite.add(f"{name}_no_biases", lambda rng: sequence(
            rng, TYPES[name], biases=False, time_major=False))
        suite.add(f"{name}_cell_no_biases", lambda rng: cell(rng, TYPES[name], biases=False))
        suite.add(f"{name}_cell_fifth_step", lambda rng: cell(rng, TYPES[name], steps=5))
    channels = (F32, F32, ("int8", per_channel(1, [1 / (100 + 10 * u) for u in range(U)])),
                F32, F32)
    suite.add("i8_channel", lambda rng: sequence(rng, channels))
    suite.write()


if __name__ == "__main__":
    main()
