"""Goldens of RNNCell. Oracle: PyTorch's RNNCell in float64 (its second bias is 0).

Sums are float32 in the operator, so that quantized results keep a distance of
1e-5 of the largest sum from rounding ties."""

import os
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import NONE, Case, Suite, Tensor, close, per_tensor, store

F32 = ("float32", NONE)
U8_STATE = ("uint8", per_tensor(1 / 127, 127))
I8_STATE = ("int8", per_tensor(1 / 120, -3))

# name, I, U, B, state_in, output, state_out
CASES = [
    ("f32_i3_u4_b2", 3, 4, 2, F32, F32, F32),
    ("f32_i1_u1_b1", 1, 1, 1, F32, F32, F32),
    ("f32_i5_u7_b3", 5, 7, 3, F32, F32, F32),
    ("f32_i33_u64_b2", 33, 64, 2, F32, F32, F32),
    ("u8_state_i3_u4_b2", 3, 4, 2, U8_STATE, F32, U8_STATE),
    ("u8_state_i33_u7_b3", 33, 7, 3, U8_STATE, F32, U8_STATE),
    ("u8_output_i3_u4_b2", 3, 4, 2, U8_STATE, U8_STATE, U8_STATE),
    ("i8_state_of_u8_output_i3_u4_b2", 3, 4, 2, I8_STATE, U8_STATE, I8_STATE),
]


def cell(x, weights, bias, state, recurrent):
    module = torch.nn.RNNCell(x.shape[1], weights.shape[0], dtype=torch.float64)
    with torch.no_grad():
        module.weight_ih.copy_(torch.from_numpy(weights))
        module.weight_hh.copy_(torch.from_numpy(recurrent))
        module.bias_ih.copy_(torch.from_numpy(bias))
        module.bias_hh.zero_()
        return module(torch.from_numpy(x), torch.from_numpy(state)).numpy()


def make(rng, inputs, units, batch, state, output, state_out):
    def floats(*shape):
        return Tensor("float32", rng.uniform(-1, 1, shape))

    x, weights, bias = floats(batch, inputs), floats(units, inputs), floats(units)
    recurrent = floats(units, units)
    before = np.tanh(rng.standard_normal((batch, units)))
    state_in = store(before, *state)
    real = cell(*(t.real() for t in (x, weights, bias, state_in, recurrent)))
    size = 1 + inputs + units
    out = store(real, *output, slack=1e-5 * size)
    after = store(out.real(), *state_out, slack=1e-5 * size)
    return Case("tim.RNNCell", {}, [x, weights, bias, state_in, recurrent],
                [out, after], close(2e-7 * size, 1e-6))


def main():
    suite = Suite(__file__, torch)
    for name, *case in CASES:
        suite.add(name, lambda rng: make(rng, *case))
    suite.write()


if __name__ == "__main__":
    main()
