"""Compile times, memory and scaling of the networks; the standard library only.

bench/run.sh networks [options] builds what this needs and starts it.
"""

import argparse
import json
import os
import subprocess
import tempfile

import environment
from table import Table

NETWORKS = "resnet50,mobilenet_v2,squeezenet1_1,vgg16,perceptron"


def measure(name, caches, arguments, threads):
    command = [environment.RUN, "measure", name]
    command += ["--size", str(arguments.size), "--runs", str(arguments.runs)]
    command += ["--threads", str(threads)]
    variables = environment.program_environment(arguments.runtime, caches)
    return json.loads(subprocess.check_output(command, env=variables))


def figures(name, arguments):
    """Of one network: with empty caches, with filled ones, on one processor."""
    threads = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as caches:
        cold = measure(name, caches, arguments, threads)
        warm = measure(name, caches, arguments, threads)
        single = measure(name, caches, arguments, 1)
        measure("one_relu", caches, arguments, threads)  # fills the caches
        bare = measure("one_relu", caches, arguments, threads)
    resident = warm["resident_bytes"] - bare["resident_bytes"]
    return {
        **warm,
        "cold_compile_s": cold["compile_s"],
        "processors": threads,
        "speedup": single["median_ms"] / warm["median_ms"],
        "peak_over_bound": warm["peak_bytes"] / warm["lower_bound_bytes"],
        "planned_over_weights": warm["planned_bytes"] / warm["weight_bytes"],
        "counted_over_weights": warm["counted_bytes"] / warm["weight_bytes"],
        "resident_over_weights": resident / warm["weight_bytes"],
    }


COLUMNS = {
    "median_ms": "median ms",
    "speedup": "speedup",
    "cold_compile_s": "compile s",
    "compile_s": "cached s",
    "core_to_core_ns": "cores ns",
    "peak_over_bound": "peak/bound",
    "planned_over_weights": "planned/weights",
    "counted_over_weights": "counted/weights",
    "resident_over_weights": "resident/weights",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    parser.add_argument("--networks", default=NETWORKS)
    parser.add_argument("--runtime", default="machine", help="or intel")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--size", type=int, default=224)
    arguments = parser.parse_args()
    table = Table("network", COLUMNS)
    for name in arguments.networks.split(","):
        table.add(name, figures(name, arguments))
    if arguments.json:
        table.write(arguments.json)


if __name__ == "__main__":
    main()
