"""What NumPy takes for operators of bench/operators/bandwidth_cases.h."""

import statistics
import time

import numpy as np

RUNS = 15


def functions():
    """Name -> a function that does it once, and the bytes that it moves."""
    random = np.random.default_rng(1)
    matrix = random.random((4096, 1024), np.float32)
    table = random.random((16384, 256), np.float32)
    rows = random.integers(0, 16384, 16384)
    scores = random.random((40, 100000), np.float32)
    sums = np.empty_like(matrix)
    gathered = np.empty_like(table)

    def topk():
        best = np.argpartition(scores, -8, axis=-1)[:, -8:]
        values = np.take_along_axis(scores, best, axis=-1)
        order = np.argsort(-values, axis=-1)
        np.take_along_axis(values, order, axis=-1)
        np.take_along_axis(best, order, axis=-1)

    return {
        "cumsum_1024x4096": (
            lambda: np.cumsum(matrix, axis=-1, out=sums),
            2 * matrix.nbytes,
        ),
        "gather_rows_256x16384": (
            lambda: np.take(table, rows, axis=0, out=gathered, mode="clip"),
            2 * table.nbytes,
        ),
        "topk_8_of_100000": (topk, scores.nbytes),
    }


def seconds(function):
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def measure():
    """Name -> GB/s, of the median run."""
    rates = {}
    for name, (function, amount) in functions().items():
        function()
        taken = statistics.median(seconds(function) for _ in range(RUNS))
        rates[name] = 1e-9 * amount / taken
    return rates
