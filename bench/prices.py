"""What every kernel reaches of the device's peaks, beside what was predicted.

bench/run.sh prices [--networks a,b] measures every step of the networks alone and
prints for each kernel: its nodes that take a while, the median shares of the
device's arithmetic and memory peaks that they reach, as the compiler takes these
peaks (`timcl devices`), and the median and range of measured through predicted
microseconds.  A row of ops/launch/prices.h holds the share of the slower one of both
on nodes of which it decides; where "through" is far from 1, the row is wrong.
"""

import argparse
import collections
import json
import re
import statistics
import subprocess

import environment

# Shorter nodes are mostly launch.
LEAST_MICROSECONDS = 30


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--networks", default=environment.NETWORKS)
    parser.add_argument("--quantized", default=environment.QUANTIZED_NETWORKS)
    parser.add_argument("--json", help="writes the figures there, too")
    environment.add_runtimes(parser)
    return parser.parse_args()


def nodes(runtime, network, kind):
    """Of the network: {chosen, microseconds, operations, bytes} by node."""
    command = [environment.RUN, "steps", network, "--type", kind]
    text = subprocess.check_output(
        command, text=True, env=environment.program_environment(runtime)
    )
    found = {}
    for line in text.splitlines():
        step = json.loads(line)
        if "chosen" not in step or "operations" not in step:
            continue
        node = found.setdefault(step["step"], dict(step, microseconds=0))
        node["microseconds"] += step["microseconds"]
    return list(found.values())


def share(cases, work, peak):
    """The median share of a peak, in 1e9 a second, that nodes reach."""
    return statistics.median(
        node[work] / (1e3 * node[peak] * node["microseconds"]) for node, _ in cases
    )


def rows(runtime, measured):
    """By kernel: the figures of its nodes."""
    kernels = collections.defaultdict(list)
    for node in measured:
        chosen = re.match(r"[^:]+(?::\d+)?:([\w@. ]+?)(?: ->| \(|,)", node["chosen"])
        predicted = re.search(r"([-+.e\d]+) us$", node["chosen"])
        if not chosen or not predicted or node["microseconds"] < LEAST_MICROSECONDS:
            continue
        kernels[chosen.group(1)].append((node, float(predicted.group(1))))
    out = []
    for kernel, cases in sorted(kernels.items()):
        ratios = sorted(n["microseconds"] / p for n, p in cases if p > 0)
        if not ratios:
            continue
        out.append(
            {
                "runtime": runtime,
                "kernel": kernel,
                "nodes": len(cases),
                "compute_share": share(cases, "operations", "peak_gflops"),
                "memory_share": share(cases, "bytes", "peak_gbps"),
                "through": statistics.median(ratios),
                "least": ratios[0],
                "most": ratios[-1],
            }
        )
    return out


def main():
    arguments = parse_arguments()
    found = []
    for runtime in arguments.runtime:
        measured = []
        for kind, names in (
            ("float32", arguments.networks),
            ("int8", arguments.quantized),
        ):
            for name in filter(None, names.split(",")):
                measured += nodes(runtime, name, kind)
        found += rows(runtime, measured)
    print(
        "%-34s %5s %8s %8s   %s"
        % ("kernel", "nodes", "compute", "memory", "measured / predicted")
    )
    for row in found:
        print(
            "%-34s %5d %8.3f %8.3f   %.2f (%.2f to %.2f)"
            % (
                row["kernel"],
                row["nodes"],
                row["compute_share"],
                row["memory_share"],
                row["through"],
                row["least"],
                row["most"],
            )
        )
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
