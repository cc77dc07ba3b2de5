"""Engines that run one network in turns."""

import json
import math
import subprocess
import sys

import environment
import numpy as np
import onnx
from engine import Engine
from judges import Agreements, Differences
from onnx_model import onnx_model
from onnx_quantized import quantized_model
from turns import median_ratio, order

# Engine -> the program of peers.py and the form of its model.
FLOAT_PEERS = {
    "onnxruntime": ("onnxruntime", "float32"),
    "openvino": ("openvino", "float32"),
}
QUANTIZED_PEERS = {
    "onnxruntime": ("onnxruntime", "qoperator"),
    "onnxruntime_qdq": ("onnxruntime", "qdq"),
    "openvino": ("openvino", "qdq"),
}
WARM_UP = 3  # runs at the start of every turn, not counted
# Processors that slept, and caches that another engine filled, take more than
# a few short runs to come back.
TURN_SECONDS = 0.05


def peers_of(type_name):
    return FLOAT_PEERS if type_name == "float32" else QUANTIZED_PEERS


def network_options(name, type_name, size):
    """Of the program run; other clones may have no types."""
    options = [name, "--size", str(size)]
    if type_name != "float32":
        options += ["--type", type_name]
    return options


def describe(name, type_name, size):
    options = network_options(name, type_name, size)
    command = [environment.RUN, "describe", *options]
    return json.loads(subprocess.check_output(command))


def core_to_core():
    output = subprocess.check_output([environment.RUN, "core_to_core"])
    return json.loads(output)["core_to_core_ns"]


def base_name(runtime):
    return runtime + " base"


def median_ms(turns):
    return 1e3 * float(np.median(sum(turns, [])))


class Contest:
    """One network with a number of threads.  `arguments` are those of
    compare.py."""

    def __init__(self, network, threads, arguments):
        self.network, self.threads = network, threads
        self.arguments = arguments
        self.peers = peers_of(network["type"])
        quantized = network["type"] != "float32"
        judge = Agreements if quantized else Differences
        self.judge = judge(network, list(self.peers))
        self.options = network_options(
            network["name"], network["type"], arguments.size
        )
        self.engines = {}

    def start(self, folder):
        """Engines by name: ours are called by their runtime, those of the clone
        --base, where it has the network, by base_name.  Models go to `folder`.
        """
        base = None
        if self.arguments.base:
            program = environment.run_program(self.arguments.base)
            base = program if self.has_network(program) else None
        for runtime in self.arguments.runtime:
            variables = environment.program_environment(runtime)
            self.engines[runtime] = self.ours(environment.RUN, variables)
            if base:
                caches = environment.CACHES / "base"
                variables = environment.program_environment(runtime, caches)
                self.engines[base_name(runtime)] = self.ours(base, variables)
        script = environment.ROOT / "bench" / "peers.py"
        for peer, (program, form) in self.peers.items():
            path = self.model(folder, form)
            command = [sys.executable, script, program, path, self.threads]
            self.engines[peer] = Engine(command, self.output_shape())

    def has_network(self, program):
        command = [program, "describe", *self.options]
        if subprocess.run(command, capture_output=True).returncode == 0:
            return True
        text = "%s has no %s" % (program, " ".join(self.options))
        print(text, file=sys.stderr)
        return False

    def output_shape(self):
        return self.network["layers"][-1]["shape"]

    def ours(self, program, variables):
        options = [*self.options, "--threads", self.threads]
        command = [program, "serve", *options]
        return Engine(command, self.output_shape(), variables)

    def model(self, folder, form):
        """The path of the model in that form, made where it is not there."""
        path = folder / (form + ".onnx")
        if not path.exists():
            if form == "float32":
                model = onnx_model(self.network)
            else:
                model = quantized_model(self.network, form)
            onnx.save(model, path)
        return path

    def take_turns(self):
        """Seconds of the runs of every turn by engine; core-to-core latencies
        of the machine."""
        generator = np.random.default_rng(self.arguments.seed)
        input_shape = self.network["layers"][0]["shape"]

        def new_inputs(runs):
            shape = (WARM_UP + runs, *input_shape)
            return generator.uniform(-1, 1, shape).astype(np.float32)

        trial = new_inputs(self.arguments.runs)
        engines = self.engines
        fastest = min(engine.run(trial)[0].min() for engine in engines.values())
        runs = max(self.arguments.runs, math.ceil(TURN_SECONDS / fastest))
        seconds = {name: [] for name in engines}
        latencies = [core_to_core()]
        for turn in range(self.arguments.rounds):
            inputs = new_inputs(runs)
            outputs = {}
            for name in order(list(engines), turn):
                times, outputs[name] = engines[name].run(inputs)
                seconds[name].append(times[WARM_UP:].tolist())
            self.judge.add(inputs, outputs)
            latencies.append(core_to_core())
        return seconds, latencies

    def results(self):
        """A row for each runtime."""
        seconds, latencies = self.take_turns()
        memory = {}
        for name, engine in self.engines.items():
            memory[name] = engine.resident_mb()
            engine.close()
        rows = []
        for runtime in self.arguments.runtime:
            row = self.row(runtime, seconds, memory)
            row["core_to_core_ns_range"] = [min(latencies), max(latencies)]
            base = base_name(runtime)
            if base in self.engines:
                row.update(self.base_cells(runtime, base, seconds, memory))
            rows.append(row)
        return rows

    def row(self, runtime, seconds, memory):
        peers = {peer: median_ms(seconds[peer]) for peer in self.peers}
        ours = median_ms(seconds[runtime])
        row = {
            "network": self.network["name"],
            "type": self.network["type"],
            "runtime": runtime,
            "threads": self.threads,
            "ours_ms": ours,
            "peers_ms": peers,
            "ratio": ours / min(peers.values()),
            "ours_mb": memory[runtime],
            **self.judge.figures(runtime),
        }
        if self.network["type"] != "float32":
            row["openvino_sums"] = json.loads(self.engines["openvino"].notes)
        return row

    def base_cells(self, runtime, base, seconds, memory):
        return {
            "base_ms": median_ms(seconds[base]),
            "base_ratio": median_ratio(seconds[runtime], seconds[base]),
            "base_mb": memory[base],
            **self.judge.base_figures(base),
        }
