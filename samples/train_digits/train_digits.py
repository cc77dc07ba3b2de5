#!/usr/bin/env python3
"""Trains a small network on handwritten digits, as train_digits.cc does, by the
gradient of a function of values, and prints the loss as it falls.

train_digits.py [FILE [STEPS]]    FILE: samples/digits/data/heldout.bin
"""

import pathlib
import sys

import numpy as np
from timcl import values as tv

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "digits"
sys.path.insert(0, str(DIGITS))
import tensor_file  # noqa: E402

BATCH = 50
RATE = 0.2
# Shapes of weights, and how many inputs each output has.
LAYERS = [((8, 1, 3, 3), 9), ((16, 8, 3, 3), 72), ((32, 64), 64), ((10, 32), 32)]


def read_digits(path):
    """Pixels (N, 1, 8, 8) from 0 to 1, and labels (N, 10) with a 1 each."""
    images, labels = (tensor.array for tensor in tensor_file.load(path).values())
    pixels = images.reshape(-1, 1, 8, 8).astype(np.float32) / 16
    return pixels, np.eye(10, dtype=np.float32)[labels.ravel()]


def first_weights(seed=1):
    """Variables: weights and a bias for each layer."""
    rng = np.random.default_rng(seed)
    variables = []
    for shape, inputs in LAYERS:
        most = (6 / inputs) ** 0.5
        weights = rng.uniform(-most, most, shape).astype(np.float32)
        variables.append(tv.Variable(weights))
        variables.append(tv.Variable(np.zeros(shape[0], np.float32)))
    return variables


def network(x, weights):
    """Logarithms of the digits' likelihoods."""
    for w, b in (weights[0:2], weights[2:4]):
        x = tv.max_pool2d(tv.relu(tv.conv2d(x, w, b, padding="same")))
    x = x.reshape(-1, 64)
    x = tv.relu(tv.fully_connected(x, *weights[4:6]))
    return tv.log_softmax(tv.fully_connected(x, *weights[6:8]))


def make_step(variables):
    """A function of a batch that changes the weights and returns the loss; it is
    captured, so that a step is one run of a program."""

    @tv.capture
    def step(images, targets):
        def loss(*weights):
            likely = network(images, weights) * targets
            return -tv.reduce_mean(tv.reduce_sum(likely, -1))

        now = [variable.read() for variable in variables]
        value, gradients = tv.value_and_grad(loss, range(len(now)))(*now)
        for variable, weight, gradient in zip(variables, now, gradients):
            variable.assign(weight - gradient * RATE)
        return value

    return step


def train(path, steps):
    """The loss of every step."""
    images, targets = read_digits(path)
    step = make_step(first_weights())
    losses = []
    for number in range(steps):
        chosen = np.arange(number * BATCH, (number + 1) * BATCH) % len(images)
        losses.append(step(images[chosen], targets[chosen]))
    return [each.item() for each in losses]


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else DIGITS / "data" / "heldout.bin"
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    for number, loss in enumerate(train(path, steps)):
        if number % 10 == 0 or number + 1 == steps:
            print(f"step {number:3}  loss {loss:.4f}")


if __name__ == "__main__":
    main()
