"""What Compile takes for graphs of 12 to 10,000 operations.

bench/run.sh scaling [options] builds what this needs and starts it.
"""

import argparse
import json
import subprocess
import tempfile

import environment
from table import Table, write_json

BARE = 4  # operations of the smallest graph
COLUMNS = {
    "runtime": ("runtime", "%s"),
    "cold_compile_s": ("compile s", "%.3f"),
    "compile_s": ("cached s", "%.3f"),
    "us_per_node": ("cached us/node", "%.1f"),
    "bytes_per_node": ("resident B/node", "%.0f"),
}


def measure(nodes, caches, runtime):
    command = [environment.RUN, "measure", "residuals_%d" % nodes]
    variables = environment.program_environment(runtime, caches)
    return json.loads(
        subprocess.check_output(command + ["--runs", "1"], env=variables)
    )


def figures(nodes, runtime):
    """With empty caches, and in a second process with filled ones."""
    with tempfile.TemporaryDirectory() as caches:
        cold = measure(nodes, caches, runtime)
        warm = measure(nodes, caches, runtime)
        measure(BARE, caches, runtime)  # fills the caches
        bare = measure(BARE, caches, runtime)
    return {
        "nodes": nodes,
        "runtime": runtime,
        "cold_compile_s": cold["compile_s"],
        "compile_s": warm["compile_s"],
        "us_per_node": 1e6 * warm["compile_s"] / nodes,
        "bytes_per_node": (warm["resident_bytes"] - bare["resident_bytes"])
        / (nodes - BARE),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    parser.add_argument("--nodes", help="multiples of 4, more than 4",
                        default="12,100,1000,10000")
    environment.add_runtimes(parser)
    arguments = parser.parse_args()
    table = Table("operations", COLUMNS)
    results = []
    for nodes in arguments.nodes.split(","):
        for runtime in arguments.runtime:
            results.append(figures(int(nodes), runtime))
            table.add(nodes, results[-1])
    write_json(arguments.json, results)


if __name__ == "__main__":
    main()
