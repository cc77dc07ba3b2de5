"""Goldens of Pool1d: Pool2d's cases (tests/goldens/pooling/pool2d) of height 1, with
its oracles: ONNX Runtime where it has the window, NumPy in float64 and int64."""

import importlib.util
import os

import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
_SPEC = importlib.util.spec_from_file_location(
    "make_pool2d", os.path.join(HERE, "..", "pool2d", "make_golden.py"))
pool2d = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(pool2d)
from golden_format import Case, Suite, Tensor

AUTO, VALID, SAME, NO_PAD = pool2d.AUTO, pool2d.VALID, pool2d.SAME, pool2d.NO_PAD


def w(ksize=1, stride=1, padding=AUTO, pad=(0, 0), rounding=pool2d.FLOOR, mode="window",
      output_size=1):
    return pool2d.Window((ksize, 1), (stride, 1), padding, (*pad, 0, 0), rounding, mode,
                         (output_size, 1))


# name, shape [N,C,1,W], window
WINDOWS = [
    ("1", (1, 1, 1, 1), w()),
    ("2_s2", (1, 3, 1, 32), w(2, 2)),
    ("3_s2_valid_discards_pad", (2, 17, 1, 33), w(3, 2, VALID, (1, 1))),
    ("4_s2_same", (1, 2, 1, 7), w(4, 2, SAME)),
    ("none_acts_as_auto", (1, 2, 1, 5), w(3, 2, NO_PAD, (1, 1))),
    ("pad_0_1_ceil", (1, 3, 1, 6), w(3, 2, AUTO, (0, 1), pool2d.CEILING)),
    ("floor", (1, 2, 1, 8), w(3, 2)),
    ("kernel_is_input_stride_0", (2, 3, 1, 5), w(5, 0, VALID)),
    ("kernel_larger_same", (1, 2, 1, 4), w(9, 1, SAME)),
    ("kernel_35_pad_30", (1, 1, 1, 6), w(35, 1, AUTO, (30, 30))),
    ("stride_beyond_kernel", (1, 2, 1, 10), w(2, 4)),
    ("global", (2, 33, 1, 7), w(mode="global")),
    ("adaptive_3", (1, 3, 1, 11), w(mode="adaptive", output_size=3)),
    ("adaptive_same", (1, 2, 1, 4), w(mode="adaptive", output_size=4)),
]
FEW = ("pad_0_1_ceil", "floor", "adaptive_3")
ROWS = ("ksize", "stride", "input_size", "output_size")


def in_1d(case):
    attributes = dict(case.attributes)
    for key in ROWS:
        if key in attributes:
            assert attributes[key][1] == 1
            attributes[key] = attributes[key][0]
    if "pad" in attributes:
        attributes["pad"] = attributes["pad"][:2]
    row = lambda t: Tensor(t.dtype, t.array.reshape(t.array.shape[:2] + t.array.shape[3:]),
                           t.quant, t.role)
    return Case("tim.Pool1d", attributes, [row(case.inputs[0])], row(case.outputs[0]),
                case.tolerance)


def main():
    suite = Suite(__file__, onnxruntime)
    for name, shape, window in WINDOWS:
        for kind in pool2d.NAMES:
            suite.add(f"f32_{pool2d.NAMES[kind]}_{name}", lambda rng: in_1d(
                pool2d.case_of(rng, kind, window, shape, "float32")))
    for type_name, x, out in pool2d.MAIN + pool2d.MORE:
        for name, shape, window in WINDOWS:
            if name in FEW:
                for kind in pool2d.NAMES:
                    suite.add(f"{type_name}_{pool2d.NAMES[kind]}_{name}", lambda rng: in_1d(
                        pool2d.case_of(rng, kind, window, shape, *x, out)))
    padded = w(3, 2, AUTO, (0, 1), pool2d.CEILING)
    for name, x in (("f32", pool2d.F32), ("u8", pool2d.U8), ("i8", pool2d.I8)):
        suite.add(f"{name}_max_all_negative", lambda rng: in_1d(pool2d.case_of(
            rng, pool2d.MAX, padded, (1, 3, 1, 6), *x, negative=True)))
    for name, shape, window in WINDOWS:
        if name in ("pad_0_1_ceil", "4_s2_same"):
            for types in pool2d.PADDED_TYPES:
                suite.add(f"{types[0]}_avg_padded_{name}", lambda rng: in_1d(pool2d.case_of(
                    rng, pool2d.AVG_PADDED, window, shape, *types[1], types[2])))
    suite.add("f32_avg_declared_larger", lambda rng: in_1d(pool2d.case_of(
        rng, pool2d.AVG, w(3, 2), (1, 2, 1, 8), *pool2d.F32, extents=(5, 1))))
    suite.write()


if __name__ == "__main__":
    main()
