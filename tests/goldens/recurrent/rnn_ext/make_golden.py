"""Goldens of UnidirectionalSequenceRnnExt and BidirectionalSequenceRnnExt.
Oracle: ONNX Runtime's RNN, whose operands they have, but for the order of the
outputs and the second axis of the sequence of one direction."""

import os
import sys

import numpy as np
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import NONE, Case, Suite, close, per_tensor, store
from oracle import run_onnx_all

RELU, TANH, SIGMOID, HARD = 1, 4, 6, 31
NAMES = {RELU: "Relu", TANH: "Tanh", SIGMOID: "Sigmoid", HARD: "HardSigmoid"}

F32 = ("float32", NONE)
F16 = ("float16", NONE)
U8 = ("uint8", per_tensor(1 / 127, 127))
WI8 = ("int8", per_tensor(1 / 150))

# name: x, weights, biases, states, outputs
TYPES = {
    "f32": (F32, F32, F32, F32, F32),
    "f16": (F16, F16, F16, F16, F16),
    "u8": (U8, WI8, ("int32", per_tensor(1e-4)), U8, U8),
    "hybrid_i8": (F32, WI8, F32, F32, F32),
}


def draw(rng, kind, *shape, limit=1.0):
    return store(rng.uniform(-limit, limit, shape), *kind, slack=-1, error=0)


def make(rng, kinds, directions, activation, width=5, units=7, batch=3, steps=4):
    x = draw(rng, kinds[0], steps, batch, width)
    weights = draw(rng, kinds[1], directions, units, width, limit=0.4).const()
    recurrent = draw(rng, kinds[1], directions, units, units, limit=0.4).const()
    biases = draw(rng, kinds[2], directions, 2 * units, limit=0.5)
    state = draw(rng, kinds[3], directions, batch, units)
    inputs = [x, weights, recurrent, biases, state]
    real = [t.real().astype(np.float32) for t in inputs]
    attributes = {"activations": [NAMES[activation]] * directions, "hidden_size": units,
                  "direction": "bidirectional" if directions == 2 else "forward"}
    if activation == HARD:
        attributes |= {"activation_alpha": [0.2] * directions,
                       "activation_beta": [0.5] * directions}
    sequence, last = run_onnx_all("RNN", [*real[:4], None, real[4]], 2, **attributes)
    if directions == 1:  # (T, 1, B, U)
        sequence = np.swapaxes(sequence, 1, 2)
    op = "tim.BidirectionalSequenceRnnExt" if directions == 2 else "tim.UnidirectionalSequenceRnnExt"
    outputs = [store(o.astype(np.float64), *kinds[4], magnitude=2.0, error=1e-6, slack=1e-3)
               for o in (last, sequence)]
    return Case(op, {"activation": activation}, inputs, outputs, close(3e-6, 1e-6))


def main():
    suite = Suite(__file__, onnxruntime)
    for directions, prefix in ((1, "uni"), (2, "bi")):
        for name, kinds in TYPES.items():
            suite.add(f"{prefix}_{name}_tanh", lambda rng: make(rng, kinds, directions, TANH))
        for activation in NAMES:
            suite.add(f"{prefix}_f32_activation{activation}",
                      lambda rng: make(rng, TYPES["f32"], directions, activation))
        suite.add(f"{prefix}_f32_i2_b3_t2_u4", lambda rng: make(
            rng, TYPES["f32"], directions, SIGMOID, 2, 4, 3, 2))
        suite.add(f"{prefix}_f32_ones", lambda rng: make(
            rng, TYPES["f32"], directions, TANH, 1, 1, 1, 1))
    suite.write()


if __name__ == "__main__":
    main()
