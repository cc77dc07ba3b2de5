"""Compile times, memory and scaling of the networks; the standard library only.

bench/run.sh networks [options] builds what this needs and starts it.
"""

import argparse
import json
import os
import subprocess
import tempfile

import environment
from table import Table, write_json


def measure(name, caches, arguments, runtime, threads):
    command = [environment.RUN, "measure", name]
    command += ["--size", str(arguments.size), "--runs", str(arguments.runs)]
    command += ["--threads", str(threads)]
    variables = environment.program_environment(runtime, caches)
    return json.loads(subprocess.check_output(command, env=variables))


def figures(name, arguments, runtime):
    """Of one network: with empty caches, with filled ones, on one processor."""
    threads = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as caches:

        def run(network, count=threads):
            return measure(network, caches, arguments, runtime, count)

        cold = run(name)
        warm = run(name)
        single = run(name, 1)
        run("one_relu")  # fills the caches
        bare = run("one_relu")
    resident = warm["resident_bytes"] - bare["resident_bytes"]
    return {
        **warm,
        "runtime": runtime,
        "cold_compile_s": cold["compile_s"],
        "processors": threads,
        "speedup": single["median_ms"] / warm["median_ms"],
        "peak_over_bound": warm["peak_bytes"] / warm["lower_bound_bytes"],
        "planned_over_weights": warm["planned_bytes"] / warm["weight_bytes"],
        "counted_over_weights": warm["counted_bytes"] / warm["weight_bytes"],
        "resident_over_weights": resident / warm["weight_bytes"],
    }


COLUMNS = {
    "runtime": ("runtime", "%s"),
    "median_ms": ("median ms", "%.3f"),
    "speedup": ("speedup", "%.2f"),
    "cold_compile_s": ("compile s", "%.2f"),
    "compile_s": ("cached s", "%.3f"),
    "core_to_core_ns": ("cores ns", "%.0f"),
    "peak_over_bound": ("peak/bound", "%.3f"),
    "planned_over_weights": ("planned/weights", "%.3f"),
    "counted_over_weights": ("counted/weights", "%.3f"),
    "resident_over_weights": ("resident/weights", "%.3f"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    parser.add_argument("--networks", default=environment.NETWORKS)
    environment.add_runtimes(parser)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--size", type=int, default=224)
    arguments = parser.parse_args()
    table = Table("network", COLUMNS)
    results = []
    for name in arguments.networks.split(","):
        for runtime in arguments.runtime:
            results.append(figures(name, arguments, runtime))
            table.add(name, results[-1])
    write_json(arguments.json, results)


if __name__ == "__main__":
    main()
