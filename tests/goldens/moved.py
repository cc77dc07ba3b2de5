"""What the goldens of operators that move elements share: the types, and cases
of one input. An oracle moves codes; where types or quantizations differ, what
moves are the codes that the rule of the specification makes, in float64."""

import numpy as np

import oracle
from golden_format import (NONE, Case, Suite, Tensor, fixed_point, is_float, per_tensor,
                           random_tensor, store)

F32, F16 = ("float32", NONE), ("float16", NONE)
U8, I8 = ("uint8", per_tensor(0.05, 121)), ("int8", per_tensor(0.04, -7))
I16 = ("int16", per_tensor(0.0005, 300))
PLAIN = [
    ("f16", F16), ("i8", I8), ("i16a", I16), ("i8d", ("int8", fixed_point(4))),
    ("i16d", ("int16", fixed_point(8))), ("i32", ("int32", NONE)), ("i64", ("int64", NONE)),
    ("i16", ("int16", NONE)), ("b8", ("bool8", NONE)), ("u4", ("uint4", per_tensor(0.3, 7))),
    ("i4", ("int4", per_tensor(0.3, -1))),
]
MIXED = [
    ("u8_to_u8", U8, ("uint8", per_tensor(0.037, 90))), ("u8_to_f32", U8, F32),
    ("f32_to_u8", F32, ("uint8", per_tensor(0.037, 90))), ("f32_to_f16", F32, F16),
    ("f16_to_f32", F16, F32), ("i16a_to_i8", I16, ("int8", per_tensor(0.0371693, 9))),
    ("f16_to_i8", F16, ("int8", per_tensor(0.037, 9))),
]


def widened(array):
    """The same values in a type that every program takes."""
    array = np.asarray(array)
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    return array.astype(np.int64 if array.dtype == np.int64 else np.int32)


def onnx(op, array, *others, **attributes):
    """ONNX Runtime's operator on an array of any type."""
    found = oracle.run_onnx(op, [widened(array), *others], **attributes)
    return found.astype(array.dtype)


def agree(expected, found, what):
    oracle.require_equal(found, expected, what)
    return expected


def moved(tensor, out_kind=None):
    """What is moved: the input, or its values as `out_kind`."""
    return tensor if out_kind is None else store(tensor.real(), *out_kind)


def zero_of(tensor):
    return 0 if is_float(tensor.dtype) else tensor.quant.zero()


class Moves:
    """Cases (name, op, attributes, row-major shape, move); `move(array, zero)`
    gives the output or a list of them, `zero` being the code of 0."""

    def __init__(self, script, *modules):
        self.suite = Suite(script, *modules)

    def add(self, name, op, attributes, shape, move, every_type=False):
        def add(kind_name, x_kind, out_kind=None):
            self.suite.add(f"{kind_name}_{name}", lambda rng: self._case(
                rng, op, attributes, shape, move, x_kind, out_kind))

        add("f32", F32)
        add("u8", U8)
        if every_type:
            for kind_name, *kinds in PLAIN + MIXED:
                add(kind_name, *kinds)

    def _case(self, rng, op, attributes, shape, move, x_kind, out_kind):
        x = random_tensor(rng, x_kind[0], shape, x_kind[1])
        source = moved(x, out_kind)
        results = move(source.array, zero_of(source))
        if not isinstance(results, list):
            results = [results]
        return Case(op, attributes, [x],
                    [Tensor(source.dtype, array, source.quant) for array in results])

    def write(self):
        self.suite.write()
