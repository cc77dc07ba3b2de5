"""Goldens of Svdf. Oracle: TensorFlow Lite's SVDF over several steps whose state
is fed back, float and with 8-bit weights. Of other types the formula in float64,
which is compared with TensorFlow Lite in every float case.

TensorFlow Lite's kernel of 8-bit weights quantizes its inputs as well, to 8 bits
of their largest magnitude: the tolerance of those cases."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
import tflite
from golden_format import NONE, Case, Suite, Tensor, close, fixed_point, per_tensor, store

F32 = ("float32", NONE)
F16 = ("float16", NONE)
STEPS = 3

# name, I, B, units, rank, M, with bias
FLOAT = [("f32_i3_b2_u4_r1_m10", 3, 2, 4, 1, 10, False),
         ("f32_i3_b2_u4_r2_m10", 3, 2, 4, 2, 10, True),
         ("f32_i3_b2_u4_r3_m10", 3, 2, 4, 3, 10, False),
         ("f32_i17_b1_u5_r2_m1", 17, 1, 5, 2, 1, True),
         ("f32_i40_b3_u33_r2_m8", 40, 3, 33, 2, 8, True)]

# name, input, state, feature, time, bias, output, next state
U8 = ("uint8", per_tensor(1 / 64, 128))
I8_WEIGHTS = ("int8", per_tensor(1 / 127))
TYPED = [
    ("f16", F16, F16, F16, F16, F16, F16, F16),
    ("f16_f32", F16, F32, F16, F32, F32, F16, F32),
    ("f32_f16", F32, F16, F16, F16, None, F32, F16),
    ("u8", U8, U8, ("uint8", per_tensor(1 / 100, 120)), ("uint8", per_tensor(1 / 90, 130)),
     ("int32", per_tensor(1e-4)), ("uint8", per_tensor(1 / 20, 110)), ("uint8", per_tensor(1 / 30, 125))),
    ("i8", ("int8", per_tensor(1 / 50, 4)), ("int16", per_tensor(1e-4)), I8_WEIGHTS,
     ("int16", per_tensor(1 / 32767)), ("int32", per_tensor(1e-5)), ("int8", per_tensor(1 / 25, -9)),
     ("int16", per_tensor(1.7e-4))),
    ("i8_fixed", ("int8", fixed_point(6)), ("int8", fixed_point(5)), ("int8", fixed_point(7)),
     ("int8", fixed_point(7)), None, ("int8", fixed_point(4)), ("int8", fixed_point(5))),
]


def svdf(x, state, feature, time, bias, rank):
    """Row-major: x (B, I), state (B, F, M), feature (F, I), time (F, M)."""
    newest = x @ feature.T
    following = np.concatenate([state[:, :, 1:], newest[:, :, None]], axis=2)
    filters = np.einsum("bfm,fm->bf", following, time)
    out = filters.reshape(len(x), -1, rank).sum(axis=2)
    return out + (0 if bias is None else bias), following


def options(rank):
    out = tflite.schema.SVDFOptionsT()
    out.rank = rank
    return out


def operator(x, state, feature, time, bias, rank, version=1):
    units = len(time) // rank
    batch = x.shape[0]
    return tflite.Operator("SVDF", options(rank), [
        x.shape, feature, time, bias, tflite.Operator.State(batch, state)],
        [(batch, units)], version)


def case(rank, units, inputs, outputs, tolerance):
    return Case("tim.Svdf", {"rank": rank, "num_units": units, "spectrogram_length": 7},
                inputs, outputs, tolerance)


def floats(rng, *shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def float_steps(rng, width, batch, units, rank, memory, with_bias):
    filters = units * rank
    feature, time = floats(rng, filters, width), floats(rng, filters, memory)
    bias = floats(rng, units) if with_bias else None
    lite = operator(np.zeros((batch, width)), memory * filters, feature, time,
                    np.zeros(units, np.float32) if bias is None else bias, rank)
    state = np.zeros((batch, memory * filters), np.float32)
    size = width * memory * rank
    for _ in range(STEPS):
        x = floats(rng, batch, width)
        out, after = lite.run(x)
        real, _ = svdf(*(a.astype(np.float64) for a in (
            x, state.reshape(batch, filters, memory), feature, time)),
            None if bias is None else bias.astype(np.float64), rank)
        assert np.allclose(real, out, atol=1e-6 * size), np.abs(real - out).max()
        inputs = [Tensor("float32", a) for a in (x, state, feature, time)]
        if bias is not None:
            inputs.append(Tensor("float32", bias))
        yield case(rank, units, inputs, [Tensor("float32", out), Tensor("float32", after)],
                   close(1e-7 * size, 1e-6))
        state = after


def hybrid_steps(rng, width, batch, units, rank, memory):
    filters = units * rank
    codes = rng.integers(-127, 128, (filters, width)).astype(np.int8)
    scale = float(np.float32(1 / 127))
    time_codes = rng.integers(-127, 128, (filters, memory)).astype(np.int8)
    bias = floats(rng, units)
    lite = operator(np.zeros((batch, width)), memory * filters, (codes, scale),
                    (time_codes, scale), bias, rank, version=2)
    state = np.zeros((batch, memory * filters), np.float32)
    for _ in range(STEPS):
        x = floats(rng, batch, width)
        out, after = lite.run(x)
        weights = [Tensor("int8", a, per_tensor(1 / 127)).const() for a in (codes, time_codes)]
        inputs = [Tensor("float32", x), Tensor("float32", state), *weights,
                  Tensor("float32", bias).const()]
        step = 0.5 / 127 * np.abs(x).max()
        error = step * np.abs(codes * scale).sum(axis=1).max()
        yield case(rank, units, inputs, [Tensor("float32", out), Tensor("float32", after)],
                   close(3 * error, 1e-5))
        state = after


def typed(rng, x, state, feature, time, bias, out, following):
    width, batch, units, rank, memory = 5, 2, 6, 2, 4
    filters = units * rank
    x, state, feature, time = (
        store(rng.uniform(-1, 1, shape), *kind, slack=-1, error=0) for kind, shape in (
            (x, (batch, width)), (state, (batch, filters * memory)),
            (feature, (filters, width)), (time, (filters, memory))))
    inputs = [x, state, feature, time]
    if bias is not None:
        inputs.append(store(rng.uniform(-1, 1, units), *bias, slack=-1, error=0))
    real, after = svdf(x.real(), state.real().reshape(batch, filters, memory), feature.real(),
                       time.real(), inputs[4].real() if bias is not None else None, rank)
    size = float(width * memory * rank)
    outputs = [store(real, *out, magnitude=2.0, error=4e-7),
               store(after.reshape(batch, -1), *following, magnitude=2.0, error=4e-7)]
    return case(rank, units, inputs, outputs, close(1e-7 * size, 1e-6))


def main():
    suite = Suite(__file__, tflite.tensorflow)
    for name, *sizes in FLOAT:
        for step in range(STEPS):
            suite.add(f"{name}_step{step}", lambda rng: list(float_steps(rng, *sizes))[step])
    for step in range(STEPS):
        suite.add(f"hybrid_i8_step{step}",
                  lambda rng: list(hybrid_steps(rng, 9, 2, 4, 2, 5))[step])
    for name, *types in TYPED:
        suite.add(name, lambda rng: typed(rng, *types))
    suite.write()


if __name__ == "__main__":
    main()
