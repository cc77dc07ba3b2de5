#!/usr/bin/env python3
"""The block of block.cc with NumPy: the time per token, and the first elements
of the last token.

    attention_numpy.py [TOKENS]
"""

import math
import sys
import time

import numpy as np

WIDTH, HEADS, HIDDEN = 128, 4, 512


def weights(columns, rows, seed):
    at = (np.arange(columns * rows, dtype=np.int64) * 7919 + seed) % 1009
    scale = np.float32(1 / math.sqrt(rows))
    data = (at.astype(np.float32) / np.float32(504) - np.float32(1)) * scale
    return data.reshape(rows, columns)


def normalized(x):
    centered = x - x.mean(dtype=np.float32)
    variance = np.square(centered).mean(dtype=np.float32)
    return centered / np.sqrt(variance + np.float32(1e-5))


def gelu(x):
    inside = np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x**3)
    return np.float32(0.5) * x * (np.float32(1) + np.tanh(inside))


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


class Block:
    def __init__(self, tokens):
        self.query, self.key, self.value, self.mix = (
            weights(WIDTH, WIDTH, seed) for seed in (1, 2, 3, 4)
        )
        self.widen = weights(HIDDEN, WIDTH, 5)
        self.narrow = weights(WIDTH, HIDDEN, 6)
        self.keys = np.zeros((HEADS, tokens, WIDTH // HEADS), np.float32)
        self.values = np.zeros_like(self.keys)

    def attend(self, x, position):
        heads = (HEADS, WIDTH // HEADS)
        self.keys[:, position] = (x @ self.key).reshape(heads)
        self.values[:, position] = (x @ self.value).reshape(heads)
        query = (x @ self.query).reshape(HEADS, 1, WIDTH // HEADS)
        keys = self.keys[:, : position + 1]
        scale = np.float32(1 / math.sqrt(WIDTH / HEADS))
        scores = softmax(query @ keys.transpose(0, 2, 1) * scale)
        found = scores @ self.values[:, : position + 1]
        return found.reshape(WIDTH) @ self.mix

    def step(self, token, position):
        read = token + self.attend(normalized(token), position)
        hidden = gelu(normalized(read) @ self.widen)
        return normalized(read + hidden @ self.narrow)


def main():
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    for _ in range(2):
        block = Block(tokens)
        token = (np.arange(WIDTH, dtype=np.float32) % 17) / np.float32(8) - 1
        begin = time.perf_counter()
        for position in range(tokens):
            token = block.step(token, position)
        elapsed = time.perf_counter() - begin
    print(f"numpy      {elapsed / tokens * 1e6:12.1f}")
    print("last token:", " ".join(f"{x:.4f}" for x in token[:4]))


if __name__ == "__main__":
    main()
