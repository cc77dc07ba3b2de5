"""Goldens of BidirectionalSequenceLstm. Oracle: ../lstm_oracle.py, whose layers
are compared with every program that has their options; without peepholes and
with one size for both the whole is compared with PyTorch's bidirectional LSTM.

Sums are float32 in the operator: results are within 2e-6 of the float64 ones."""

import os
import sys

import numpy as np
import onnxruntime
import tensorflow
import torch

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, ".."))
sys.path.insert(0, os.path.join(FOLDER, "..", ".."))
from golden_format import Case, Suite, Tensor, close
from lstm_oracle import ACTIVATIONS, GATES, Layer, check, compare, layer

# name, (I, U, B, T), options
CASES = [
    ("plain", (2, 4, 1, 3), {}),
    ("batch_major", (3, 4, 2, 3), {"time_major": False}),
    ("last_step", (3, 4, 2, 3), {"sequences": False}),
    ("one_of_all", (1, 1, 1, 1), {}),
    ("units_33", (5, 33, 3, 4), {"time_major": False}),
    ("no_states", (3, 4, 2, 3), {"states": False}),
    ("coupled_peephole", (3, 4, 2, 3), {"input_gate": False, "peephole": True}),
    ("norm_project_clips", (3, 12, 2, 3), {"norm": True, "project": 5, "peephole": True,
                                           "cell_clip": 0.5, "proj_clip": 0.3}),
    ("project", (3, 6, 2, 3), {"project": 4}),
    ("linked", (3, 4, 2, 3), {"linked": 5}),
    ("linked_batch_major_last_step", (3, 4, 2, 3), {"linked": 5, "time_major": False,
                                                    "sequences": False}),
    ("parallel", (3, 4, 2, 3), {"parallel": 5}),
    ("both_biases_forget_bias", (3, 4, 2, 3), {"rb": True, "forget_bias": 1.0}),
    ("relu1", (3, 4, 2, 3), {"act": "relu1"}),
    ("hard_sigmoid", (3, 4, 2, 3), {"rho": "hard_sigmoid"}),
]


def make(rng, name, sizes, options):
    width, units, batch, steps = sizes
    outputs = options.get("project", units)
    gates = GATES if options.get("input_gate", True) else "fco"
    slots = [None] * 64

    def values(slot, shape, most, role="const"):
        slots[slot] = Tensor("float32", rng.uniform(-most, most, shape), role=role)
        return slots[slot].real()

    def of_gates(first, order, wanted, shape, most):
        return {g: values(first + at, shape, most) for at, g in enumerate(order)
                if wanted and g in gates}

    linked, parallel = options.get("linked", 0), options.get("parallel", 0)
    x = rng.uniform(-1.2, 1.2, (steps, batch, width)).astype(np.float32).astype(np.float64)
    aux = None
    if linked or parallel:
        aux = rng.uniform(-1.2, 1.2, (steps, batch, linked + parallel))
        aux = aux.astype(np.float32).astype(np.float64)
    layers, states = [], []
    for at in (0, 1):
        reads = parallel if parallel and at else width
        layers.append(Layer(
            W=of_gates(1 + 17 * at, GATES, True, (units, reads), 0.8),
            R=of_gates(5 + 17 * at, GATES, True, (units, outputs), 0.4),
            p=of_gates(9 + 17 * at, "ifo", options.get("peephole"), (units,), 0.5),
            b=of_gates(12 + 17 * at, GATES, True, (units,), 0.5),
            Q=values(16 + 17 * at, (outputs, units), 0.6) if "project" in options else None,
            A=of_gates(40 + 4 * at, GATES, linked, (units, linked), 0.5),
            n=of_gates(48 + 4 * at, GATES, options.get("norm"), (units,), 0.9),
            rb=of_gates(56 + 4 * at, GATES, options.get("rb"), (units,), 0.5),
            **{key: options[key] for key in ("cell_clip", "proj_clip", "forget_bias", "act", "rho")
               if key in options}))
        if options.get("states", True):
            states.append((values(35 + 2 * at, (batch, outputs), 0.8, "var"),
                           values(36 + 2 * at, (batch, units), 0.8, "var")))
        else:
            states.append((np.zeros((batch, outputs)), np.zeros((batch, units))))

    results = []
    for at, (of, (h, c)) in enumerate(zip(layers, states)):
        read = aux if parallel and at else x
        beside = aux if linked else None
        if at:
            read = read[::-1].copy()
            beside = beside[::-1].copy() if linked else None
        found = layer(of, read, h, c, beside)
        assert check(of, read, h, c, beside, found) or name == "relu1"
        sequence, last, cell = found
        results += [sequence[::-1] if at else sequence, last, cell]
    if name in ("plain", "batch_major", "units_33"):
        compare("torch", run_torch(layers, x, states), results, 1e-12)

    def stored(array, role="var"):
        if array.ndim == 3 and not options.get("time_major", True):
            array = array.swapaxes(0, 1)
        return Tensor("float32", array, role=role)

    if not options.get("sequences", True):
        results[0], results[3] = results[1], results[4]
    slots[0] = stored(x)
    if aux is not None:
        slots[39] = stored(aux)
    while slots[-1] is None:
        slots.pop()
    of = layers[0]
    attributes = {"cell_clip": float(of.cell_clip), "proj_clip": float(of.proj_clip),
                  "activation": ACTIVATIONS[of.act][0], "forget_bias": float(of.forget_bias),
                  "time_major": options.get("time_major", True),
                  "recurrent_activation": ACTIVATIONS[of.rho][0],
                  "return_sequences": options.get("sequences", True)}
    return Case("tim.BidirectionalSequenceLstm", attributes, slots,
                [stored(r) for r in results], close(2e-6, 2e-6))


def run_torch(layers, x, states):
    units = layers[0].units
    module = torch.nn.LSTM(x.shape[2], units, bidirectional=True, dtype=torch.float64)
    with torch.no_grad():
        for of, suffix in zip(layers, ("", "_reverse")):
            for name, rows in (("weight_ih_l0", of.W), ("weight_hh_l0", of.R), ("bias_ih_l0", of.b)):
                rows = np.concatenate([rows[g] for g in GATES])
                getattr(module, name + suffix).copy_(torch.from_numpy(rows))
            getattr(module, "bias_hh_l0" + suffix).zero_()
        h, c = (torch.from_numpy(np.stack([s[i] for s in states])) for i in (0, 1))
        y, (last, cell) = module(torch.from_numpy(x), (h, c))
    y, last, cell = y.numpy(), last.numpy(), cell.numpy()
    return [y[:, :, :units], last[0], cell[0], y[:, :, units:], last[1], cell[1]]


def main():
    suite = Suite(__file__, onnxruntime, torch, tensorflow)
    for name, sizes, options in CASES:
        suite.add(f"f32_{name}", lambda rng: make(rng, name, sizes, options))
    suite.write()


if __name__ == "__main__":
    main()
