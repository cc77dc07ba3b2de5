"""Networks in TIM-CL, ONNX Runtime and OpenVINO, with the same weights.

bench/run.sh compare [options] builds what this needs and starts it.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import environment


def parse_arguments():
    def words(text):
        return text.split(",")

    def numbers(text):
        return [int(word) for word in words(text)]

    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--json", help="also write the results to this file")
    add("--networks", type=words, default=words(environment.NETWORKS))
    processors = [len(os.sched_getaffinity(0))]
    add("--threads", type=numbers, default=processors, help="such as 1,2")
    environment.add_runtimes(parser)
    add("--rounds", type=int, default=6, help="turns of every engine")
    add("--runs", type=int, default=10, help="least runs in a turn")
    add("--size", type=int, default=224, help="width of images, pixels")
    add("--seed", type=int, default=1, help="of the inputs")
    add("--base", help="folder of another clone, one more engine in the turns")
    return parser.parse_args()


# Before what is slow: --help and mistakes need no packages.
arguments = parse_arguments()
environment.enter_virtual_environment()

import numpy as np
import onnx

from engine import Engine
from onnx_model import onnx_model
from table import Table, write_json
from turns import median_ratio, order

PEERS = ("onnxruntime", "openvino")
WARM_UP = 3  # runs at the start of every turn, not counted
# Processors that slept, and caches that another engine filled, take more than
# a few short runs to come back.
TURN_SECONDS = 0.05


def describe(name, size):
    command = [environment.RUN, "describe", name, "--size", str(size)]
    return json.loads(subprocess.check_output(command))


def core_to_core():
    output = subprocess.check_output([environment.RUN, "core_to_core"])
    return json.loads(output)["core_to_core_ns"]


def start_engines(network, model_path, threads, arguments):
    """Name -> engine; ours are called by their runtime, those of the clone
    --base by base_name."""
    shape = network["layers"][-1]["shape"]
    options = ["serve", network["name"], "--size", arguments.size]
    options += ["--threads", threads]
    engines = {}
    for runtime in arguments.runtime:
        variables = environment.program_environment(runtime)
        engines[runtime] = Engine([environment.RUN, *options], shape, variables)
        if arguments.base:
            program = environment.run_program(arguments.base)
            caches = environment.CACHES / "base"
            variables = environment.program_environment(runtime, caches)
            base = Engine([program, *options], shape, variables)
            engines[base_name(runtime)] = base
    for peer in PEERS:
        script = environment.ROOT / "bench" / "peers.py"
        command = [sys.executable, script, peer, model_path, threads]
        engines[peer] = Engine(command, shape)
    return engines


def base_name(runtime):
    return runtime + " base"


def difference(a, b):
    return float(np.abs(a - b).max() / np.abs(b).max())


def take_turns(engines, input_shape, arguments):
    """Seconds of the runs of every turn by engine; the greatest difference of
    outputs from a peer's by engine; core-to-core latencies of the machine."""
    generator = np.random.default_rng(arguments.seed)

    def new_inputs(runs):
        shape = (WARM_UP + runs, *input_shape)
        return generator.uniform(-1, 1, shape).astype(np.float32)

    trial = new_inputs(arguments.runs)
    fastest = min(engine.run(trial)[0].min() for engine in engines.values())
    runs = max(arguments.runs, math.ceil(TURN_SECONDS / fastest))
    seconds = {name: [] for name in engines}
    differences = {name: 0.0 for name in engines}
    latencies = [core_to_core()]
    for turn in range(arguments.rounds):
        inputs = new_inputs(runs)
        outputs = {}
        for name in order(list(engines), turn):
            times, outputs[name] = engines[name].run(inputs)
            seconds[name].append(times[WARM_UP:].tolist())
        for name in engines:
            for peer in PEERS:
                for ours, theirs in zip(outputs[name], outputs[peer]):
                    worst = max(differences[name], difference(ours, theirs))
                    differences[name] = worst
        latencies.append(core_to_core())
    return seconds, differences, latencies


def compare(network, model_path, threads, arguments):
    engines = start_engines(network, model_path, threads, arguments)
    input_shape = network["layers"][0]["shape"]
    seconds, differences, latencies = take_turns(
        engines, input_shape, arguments
    )
    memory = {name: engine.resident_mb() for name, engine in engines.items()}
    for engine in engines.values():
        engine.close()
    median = {
        name: 1e3 * float(np.median(sum(turns, [])))
        for name, turns in seconds.items()
    }
    peers = {peer: median[peer] for peer in PEERS}
    results = [
        {
            "network": network["name"],
            "type": "float32",
            "runtime": runtime,
            "threads": threads,
            "ours_ms": median[runtime],
            "peers_ms": peers,
            "ratio": median[runtime] / min(peers.values()),
            "ours_mb": memory[runtime],
            "max_difference": differences[runtime],
            "core_to_core_ns_range": [min(latencies), max(latencies)],
        }
        for runtime in arguments.runtime
    ]
    if arguments.base:
        for result in results:
            base = base_name(result["runtime"])
            result["base_ms"] = median[base]
            turns = seconds[result["runtime"]], seconds[base]
            result["base_ratio"] = median_ratio(*turns)
            result["base_mb"] = memory[base]
            result["base_difference"] = differences[base]
    return results


COLUMNS = {
    "runtime": ("runtime", "%s"),
    "threads": ("threads", "%d"),
    "ours_ms": ("ours ms", "%.3f"),
    **{peer: (peer + " ms", "%.3f") for peer in PEERS},
    "ratio": ("ratio", "%.2f"),
    "max_difference": ("difference", "%.1e"),
    "latencies": ("cores ns", "%s"),
}
BASE_COLUMNS = {
    "base_ms": ("base ms", "%.3f"),
    "base_ratio": ("ours / base", "%.3f"),
    "ours_mb": ("ours MB", "%.1f"),
    "base_mb": ("base MB", "%.1f"),
    "base_difference": ("base difference", "%.1e"),
}


def cells(result):
    text = "%.0f-%.0f" % tuple(result["core_to_core_ns_range"])
    return {**result, **result["peers_ms"], "latencies": text}


def main():
    results = []
    columns = {**COLUMNS, **BASE_COLUMNS} if arguments.base else COLUMNS
    table = Table("network", columns)
    for name in arguments.networks:
        network = describe(name, arguments.size)
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            onnx.save(onnx_model(network), file.name)
            for threads in arguments.threads:
                found = compare(network, file.name, threads, arguments)
                for result in found:
                    table.add(name, cells(result))
                results += found
    write_json(arguments.json, results)


if __name__ == "__main__":
    main()
