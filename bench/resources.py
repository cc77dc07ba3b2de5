"""Compile times, memory and scaling of the networks; the standard library only.

bench/run.sh networks [options] builds what this needs and starts it.
"""

import argparse
import json
import os
import subprocess
import tempfile

import environment
import selection
from table import Table, write_json


def measure(name, type_name, caches, arguments, runtime, threads):
    command = [environment.RUN, "measure", name, "--type", type_name]
    command += ["--size", str(arguments.size), "--runs", str(arguments.runs)]
    command += ["--threads", str(threads)]
    variables = environment.program_environment(runtime, caches)
    return json.loads(subprocess.check_output(command, env=variables))


def speedups(run, pairs):
    """One processor's median over that of all, each pair of processes in turn,
    as the host of a virtual machine may change its speed within seconds."""
    for _ in range(pairs):
        single = run(count=1)
        together = run()
        yield single["median_ms"] / together["median_ms"], together


def figures(name, type_name, arguments, runtime):
    """Of one network in one type: with empty caches, with filled ones, on one
    processor."""
    threads = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as caches:

        def run(network=name, type_name=type_name, count=threads):
            return measure(
                network, type_name, caches, arguments, runtime, count
            )

        cold = run()
        run(count=1)  # fills the caches
        pairs = sorted(speedups(run, arguments.pairs), key=lambda pair: pair[0])
        speedup, warm = pairs[len(pairs) // 2]
        run("one_relu", "float32")
        bare = run("one_relu", "float32")
    resident = warm["resident_bytes"] - bare["resident_bytes"]
    return {
        **warm,
        "runtime": runtime,
        "cold_compile_s": cold["compile_s"],
        "processors": threads,
        "speedup": speedup,
        "speedup_range": [pairs[0][0], pairs[-1][0]],
        "peak_over_bound": warm["peak_bytes"] / warm["lower_bound_bytes"],
        "planned_over_weights": warm["planned_bytes"] / warm["weight_bytes"],
        "counted_over_weights": warm["counted_bytes"] / warm["weight_bytes"],
        "resident_over_weights": resident / warm["weight_bytes"],
    }


COLUMNS = {
    "type": ("type", "%s"),
    "runtime": ("runtime", "%s"),
    "median_ms": ("median ms", "%.3f"),
    "speedup": ("speedup", "%.2f"),
    "range": ("range", "%s"),
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
    selection.add_options(parser)
    environment.add_runtimes(parser)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=9, help="for speedup")
    parser.add_argument("--size", type=int, default=224)
    arguments = parser.parse_args()
    if arguments.pairs < 1:
        parser.error("--pairs: expected 1 or more")
    pairs = selection.selected(parser, arguments)
    table = Table("network", COLUMNS, 18)
    results = []
    for name, type_name in pairs:
        for runtime in arguments.runtime:
            results.append(figures(name, type_name, arguments, runtime))
            range_text = "%.2f-%.2f" % tuple(results[-1]["speedup_range"])
            table.add(name, {**results[-1], "range": range_text})
    write_json(arguments.json, results)


if __name__ == "__main__":
    main()
