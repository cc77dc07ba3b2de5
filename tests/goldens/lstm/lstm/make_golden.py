"""Goldens of UnidirectionalSequenceLstm. Oracles: ../lstm_oracle.py; cases whose
options one of the programs has are compared with all that have them, the others
are its formula in float64 (see NUMPY_ALONE).

Sums are float32 in the operator: float results are within 2e-6 of the float64
ones, and quantized ones keep a distance of 1e-3 codes from rounding ties."""

import os
import sys

import numpy as np
import onnxruntime
import tensorflow
import torch

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, ".."))
sys.path.insert(0, os.path.join(FOLDER, "..", ".."))
from golden_format import (NONE, Case, Suite, Tensor, close, fixed_point, per_channel,
                           per_tensor, store)
from lstm_oracle import ACTIVATIONS, GATES, Layer, check, compare, layer, run_tflite

F32, F16 = ("float32", NONE), ("float16", NONE)
U8 = ("uint8", per_tensor(1 / 100, 128))
U8_OUT = ("uint8", per_tensor(1 / 120, 127))
I8 = ("int8", per_tensor(1 / 110, 3))
I8_WEIGHTS = ("int8", per_tensor(1 / 150, 0))
I16 = ("int16", per_tensor(1 / 20000, 5))
I8D, I16D = ("int8", fixed_point(6)), ("int16", fixed_point(14))
PER_CHANNEL = ("int8", "channel")

PLAIN = {}
SIZES = (3, 4, 2, 3)  # I, U, B, T
# name, (I, U, B, T), options
CASES = [
    ("plain", SIZES, PLAIN),
    ("one_of_all", (1, 1, 1, 1), PLAIN),
    ("batch_major", SIZES, {"time_major": False}),
    ("last_step", SIZES, {"sequences": False}),
    ("last_step_batch_major", (5, 17, 3, 2), {"sequences": False, "time_major": False}),
    ("units_32", (33, 32, 5, 4), PLAIN),
    ("units_50_batch_9", (7, 50, 9, 5), {"time_major": False}),
    ("variable_weights", SIZES, {"role": "var"}),
    ("variable_all", (5, 17, 3, 2), {"role": "var", "norm": True, "peephole": True, "project": 6,
                                     "qb": True, "rb": True, "aux": 4, "forget_bias": 0.5}),
    ("no_states_in", SIZES, {"states": False}),
    ("no_states_out", SIZES, {"outputs": 1}),
    ("no_bias", SIZES, {"bias": False}),
    ("forget_bias", SIZES, {"forget_bias": 1.0}),
    ("forget_bias_alone", SIZES, {"forget_bias": 1.0, "bias": False}),
    ("both_biases", SIZES, {"rb": True}),
    ("coupled", SIZES, {"input_gate": False}),
    ("peephole", SIZES, {"peephole": True}),
    ("peephole_units_33", (5, 33, 3, 4), {"peephole": True, "time_major": False}),
    ("coupled_peephole", SIZES, {"peephole": True, "input_gate": False}),
    ("cell_clip", SIZES, {"cell_clip": 0.3}),
    ("project", SIZES, {"project": 3}),
    ("project_wide", (5, 17, 3, 3), {"project": 33}),
    ("project_bias", SIZES, {"project": 5, "qb": True}),
    ("project_clip", SIZES, {"project": 5, "qb": True, "proj_clip": 0.2}),
    ("clip_without_projection", SIZES, {"proj_clip": 0.2}),
    ("norm", (5, 12, 3, 4), {"norm": True}),
    ("norm_units_70", (5, 70, 2, 3), {"norm": True, "time_major": False}),
    ("norm_coupled_peephole", (5, 12, 3, 4), {"norm": True, "peephole": True,
                                              "input_gate": False}),
    ("norm_all", (5, 17, 3, 4), {"norm": True, "peephole": True, "project": 6, "qb": True,
                                 "cell_clip": 0.5, "proj_clip": 0.4, "forget_bias": 0.25}),
    ("aux", SIZES, {"aux": 5}),
    ("aux_coupled_batch_major", SIZES, {"aux": 2, "input_gate": False, "time_major": False}),
    ("everything", (5, 17, 5, 4), {"norm": True, "peephole": True, "project": 9, "qb": True,
                                   "cell_clip": 0.5, "proj_clip": 0.4, "forget_bias": 0.25,
                                   "aux": 3, "rb": True, "time_major": False}),
]
CASES += [(f"act_{act}", SIZES, {"act": act}) for act in ACTIVATIONS]
CASES += [(f"gates_{rho}", SIZES, {"rho": rho}) for rho in ("relu", "relu6", "tanh",
                                                            "hard_sigmoid", "relu1")]
CASES += [("hard_sigmoid_peephole", SIZES, {"rho": "hard_sigmoid", "peephole": True})]
# No program has them: two biases or an aux input after layer normalisation or a
# projection bias, and these activations of gates.
NUMPY_ALONE = {"everything", "variable_all", "gates_relu6", "gates_relu1", "act_relu1", "act_none"}

# name, input, state, cell, weights, bias, output, state out, cell out, options
TYPES = [
    ("f16", F16, F16, F16, F16, F16, F16, F16, F16, PLAIN),
    ("f16_norm_project", F16, F16, F16, F16, F16, F16, F16, F16,
     {"norm": True, "project": 5, "units": 12}),
    ("u8", U8, U8, F32, U8, F32, U8_OUT, U8_OUT, F32, PLAIN),
    ("u8_everything", U8, U8, F16, U8, F32, U8_OUT, U8_OUT, F16,
     {"norm": True, "peephole": True, "project": 5, "qb": True, "cell_clip": 0.5, "units": 18,
      "aux": 3, "rb": True}),
    ("u8_variable", U8, U8, F32, U8, F32, U8_OUT, U8_OUT, F32, {"role": "var"}),
    ("u8_i32_bias", U8, U8, F32, U8, ("int32", per_tensor(1e-4)), U8_OUT, U8_OUT, F32, PLAIN),
    ("i8", I8, I8, I16, I8_WEIGHTS, F32, I8, I8, I16, PLAIN),
    ("i8_units_33", I8, I8, I16, I8_WEIGHTS, F32, I8, I8, I16, {"units": 33}),
    ("i8_fixed", I8D, I8D, I16D, I8D, F32, I8D, I8D, I16D, PLAIN),
    ("i16", I16, I16, I16, I8_WEIGHTS, F32, I16, I16, I16, PLAIN),
    ("i16_fixed", I16D, I16D, I16D, I16D, F32, I16D, I16D, I16D, PLAIN),
    ("u8_per_channel", U8, U8, F32, PER_CHANNEL, F32, U8_OUT, U8_OUT, F32, PLAIN),
    ("f16_of_u8", U8, F16, F16, U8, F16, F16, F16, F16, PLAIN),
    ("hybrid_i8", F32, F32, F32, I8_WEIGHTS, F32, F32, F32, F32, PLAIN),
    ("hybrid_i8_all", F32, F32, F32, I8_WEIGHTS, F32, F32, F32, F32,
     {"peephole": True, "project": 5, "qb": True, "cell_clip": 0.5, "units": 18}),
    ("hybrid_i8_coupled", F32, F32, F32, I8_WEIGHTS, F32, F32, F32, F32, {"input_gate": False}),
    ("hybrid_u8", F32, F32, F32, U8, F32, F32, F32, F32, PLAIN),
    ("hybrid_u8_f16", F16, F16, F16, U8, F32, F16, F16, F16, PLAIN),
    ("hybrid_per_channel", F32, F32, F32, PER_CHANNEL, F32, F32, F32, F32, PLAIN),
]


def tensor(rng, shape, kind, most, role="var"):
    """Values within +-`most` as the type has them."""
    dtype, quant = kind
    values = rng.uniform(-most, most, shape)
    if quant == "channel":
        quant = per_channel(1, rng.uniform(0.5, 1, shape[0]) * most / 100)
    if dtype == "float32":
        return Tensor(dtype, values, quant, role)
    if dtype == "float16":
        return Tensor(dtype, values.astype(np.float16), quant, role)
    info = np.iinfo(dtype)
    codes = np.rint(values / quant.scale(len(shape)) + quant.zero(len(shape)))
    return Tensor(dtype, np.clip(codes, info.min, info.max).astype(np.int64), quant, role)


class Operands:
    """Tensors of a node by slot, and what the oracle makes of them."""

    def __init__(self, rng, sizes, options, kinds):
        width, units, batch, steps = sizes
        units = options.get("units", units)
        outputs = options.get("project", units)
        gates = GATES if options.get("input_gate", True) else "fco"
        role = options.get("role", "const")
        x_kind, h_kind, c_kind, w_kind, b_kind = kinds
        self.slots = [None] * 33
        self.options = options

        def sequence(n):
            return tensor(rng, (steps, batch, n), x_kind, 1.2)

        def of_gates(first, order, wanted, shape, kind, most):
            out = {}
            for at, g in enumerate(order):
                if wanted and g in gates:
                    made = tensor(rng, shape, kind, most, role)
                    self.slots[first + at] = made
                    out[g] = made.real()
            return out

        def one(slot, wanted, shape, kind, most):
            if not wanted:
                return None
            self.slots[slot] = tensor(rng, shape, kind, most, role)
            return self.slots[slot].real()

        x = sequence(width)
        aux = sequence(options["aux"]) if "aux" in options else None
        h = tensor(rng, (batch, outputs), h_kind, 0.8)
        c = tensor(rng, (batch, units), c_kind, 0.8)
        most = 0.8 / (1 + width / 16)
        self.layer = Layer(
            W=of_gates(3, GATES, True, (units, width), w_kind, most),
            R=of_gates(7, GATES, True, (units, outputs), w_kind, 0.6 / (1 + outputs / 16)),
            p=of_gates(11, "ifo", options.get("peephole"), (units,), b_kind, 0.5),
            b=of_gates(14, GATES, options.get("bias", True), (units,), b_kind, 0.5),
            Q=one(18, "project" in options, (outputs, units), w_kind, 0.6),
            qb=one(19, options.get("qb"), (outputs,), b_kind, 0.3),
            n=of_gates(20, GATES, options.get("norm"), (units,), b_kind, 0.9),
            A=of_gates(25, GATES, "aux" in options, (units, options.get("aux", 1)), w_kind, 0.5),
            rb=of_gates(29, GATES, options.get("rb"), (units,), b_kind, 0.4),
            **{name: options[name] for name in ("cell_clip", "proj_clip", "forget_bias", "act",
                                                "rho") if name in options})
        self.x, self.aux, self.h, self.c = x, aux, h, c

    def as_stored(self, sequence):
        """(T, B, n) as the operator has it."""
        if self.options.get("time_major", True):
            return sequence
        return Tensor(sequence.dtype, sequence.array.swapaxes(0, 1), sequence.quant, sequence.role)

    def inputs(self):
        slots = list(self.slots)
        slots[0] = self.as_stored(self.x)
        if self.options.get("states", True):
            slots[1], slots[2] = self.h, self.c
        if self.aux is not None:
            slots[24] = self.as_stored(self.aux)
        while slots[-1] is None:
            slots.pop()
        return slots

    def reals(self):
        states = [t.real() if self.options.get("states", True) else np.zeros(t.array.shape)
                  for t in (self.h, self.c)]
        return [self.x.real(), *states, None if self.aux is None else self.aux.real()]

    def attributes(self):
        of = self.layer
        return {"cell_clip": float(of.cell_clip), "proj_clip": float(of.proj_clip),
                "activation": ACTIVATIONS[of.act][0], "forget_bias": float(of.forget_bias),
                "time_major": self.options.get("time_major", True),
                "recurrent_activation": ACTIVATIONS[of.rho][0],
                "return_sequences": self.options.get("sequences", True)}


def case_of(operands, found, kinds, tolerance=2e-6):
    sequence, h, c = found
    options = operands.options

    def stored(real, kind):
        return store(real, *kind, magnitude=np.maximum(np.abs(real), 1), slack=1e-3, error=1e-6)

    results = [stored(h, kinds[1]), stored(c, kinds[2])]
    if not options.get("sequences", True):
        results.insert(0, stored(h, kinds[0]))
    elif options.get("time_major", True):
        results.insert(0, stored(sequence, kinds[0]))
    else:
        results.insert(0, stored(sequence.swapaxes(0, 1), kinds[0]))
    return Case("tim.UnidirectionalSequenceLstm", operands.attributes(), operands.inputs(),
                results[: options.get("outputs", 3)], close(tolerance, tolerance))


def make_float(rng, name, sizes, options):
    operands = Operands(rng, sizes, options, (F32,) * 5)
    x, h, c, aux = operands.reals()
    found = layer(operands.layer, x, h, c, aux)
    agreed = check(operands.layer, x, h, c, aux, found)
    assert bool(agreed) != (name in NUMPY_ALONE), (name, agreed)
    return case_of(operands, found, (F32,) * 3)


def check_hybrid(operands, found):
    """TensorFlow Lite rounds the inputs of its products to 8 bits, too."""
    of = operands.layer
    scale = I8_WEIGHTS[1].scale()
    scales = {(kind, g): scale for kind in "WR" for g in GATES}
    scales["Q", None] = scale
    for g, p in of.p.items():
        scales["p", g] = np.abs(p).max() / 127
    x, h, c, _ = operands.reals()
    compare("tflite hybrid", run_tflite(of, x, h, c, scales), found, 2e-2)


def make_typed(rng, name, kinds, options):
    operands = Operands(rng, (5, 6, 2, 3), options, kinds[:5])
    found = layer(operands.layer, *operands.reals())
    check(operands.layer, *operands.reals(), found)
    if name.startswith("hybrid_i8"):
        check_hybrid(operands, found)
    return case_of(operands, found, kinds[5:])


def make_fed_back(rng, part):
    """Two halves of one sequence, the second with the first one's states."""
    operands = Operands(np.random.default_rng(11), (6, 20, 3, 6), {"peephole": True}, (F32,) * 5)
    x, h, c, _ = operands.reals()
    whole = layer(operands.layer, x, h, c)
    first = layer(operands.layer, x[:3], h, c)
    # What the first run stores is float32.
    states = [s.astype(np.float32).astype(np.float64) for s in first[1:]]
    second = layer(operands.layer, x[3:], *states)
    compare("halves", (np.concatenate([first[0], second[0]]), *second[1:]), whole, 1e-6)
    if part == "second":
        operands.x = Tensor("float32", x[3:])
        operands.h, operands.c = (Tensor("float32", s) for s in states)
        return case_of(operands, second, (F32,) * 3)
    if part == "first":
        operands.x = Tensor("float32", x[:3])
        return case_of(operands, first, (F32,) * 3)
    check(operands.layer, x, h, c, None, whole)
    return case_of(operands, whole, (F32,) * 3)


def main():
    suite = Suite(__file__, onnxruntime, torch, tensorflow)
    for name, sizes, options in CASES:
        suite.add(f"f32_{name}", lambda rng: make_float(rng, name, sizes, options))
    for part in ("first", "second", "whole"):
        suite.add(f"f32_fed_back_{part}", lambda rng: make_fed_back(rng, part))
    for name, *kinds, options in TYPES:
        suite.add(name, lambda rng: make_typed(rng, name, kinds, options))
    suite.write()


if __name__ == "__main__":
    main()
