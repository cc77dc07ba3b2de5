"""Goldens of HashtableLookup. Oracle: a dictionary of NumPy slices; converted values by
the rule of the specification in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from golden_format import NONE, Case, Suite, Tensor, per_tensor, random_tensor, store

F32, F16, I32 = ("float32", NONE), ("float16", NONE), ("int32", NONE)
U8, U8B = ("uint8", per_tensor(0.0517, 121)), ("uint8", per_tensor(0.037, 90))
KINDS = [
    ("f32", F32, F32), ("f16", F16, F16), ("i32", I32, I32), ("u8", U8, U8),
    ("i32_to_f16", I32, F16), ("u8_to_f32", U8, F32), ("u8_to_u8", U8, U8B), ("f32_to_u8", F32, U8),
]
HITS = [("i32", I32), ("u8a", ("uint8", per_tensor(0.25, 7))), ("f16", F16), ("f32", F32),
        ("u8", ("uint8", NONE))]


def case_of(rng, keys, lookups, shape, kind, out, hits=I32, key_type="int32"):
    values = random_tensor(rng, kind[0], (len(keys),) + shape, kind[1])
    same = (values.dtype, values.quant.text()) == (out[0], out[1].text())
    source = values if same else store(values.real(), *out)
    zeros = store(np.zeros(shape), *out).array
    table = {}
    for k, key in enumerate(keys):
        table.setdefault(key, source.array[k])
    result = np.stack([table.get(lookup, zeros) for lookup in lookups])
    found = np.array([float(lookup in table) for lookup in lookups])
    return Case("tim.HashtableLookup", {},
                [Tensor("int32", lookups), Tensor(key_type, keys), values],
                [Tensor(out[0], result, out[1]), store(found, *hits)])


def main():
    suite = Suite(__file__)
    for name, kind, out in KINDS:
        suite.add(name, lambda rng: case_of(rng, [1, 5, 9, -4], [9, 2, -4, 9, 1], (7,), kind, out))
    for name, hits in HITS:
        suite.add(f"hits_{name}", lambda rng: case_of(
            rng, [3, 1, 2], [2, 7, 3], (2, 17), F32, F32, hits))
    suite.add("rank_1", lambda rng: case_of(rng, [10, 20, 30], [20, 25], (), I32, F16))
    suite.add("equal_keys", lambda rng: case_of(rng, [4, 4, 1, 4], [4, 1], (5,), F32, F32))
    suite.add("many_keys", lambda rng: case_of(
        rng, list(rng.permutation(100)), list(rng.integers(-20, 120, 40)), (3,), F32, F32))
    suite.add("int64_keys", lambda rng: case_of(
        rng, [2**40 + 1, 1, -1], [1, -1, 5], (4,), F32, F32, key_type="int64"))
    suite.write()


if __name__ == "__main__":
    main()
