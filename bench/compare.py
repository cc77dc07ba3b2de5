"""Networks in TIM-CL, ONNX Runtime and OpenVINO, with the same weights.

bench/run.sh compare [options] builds what this needs and starts it.
"""

import argparse
import os
import pathlib
import tempfile

import environment
import selection


def parse_arguments():
    def numbers(text):
        return [int(word) for word in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--json", help="also write the results to this file")
    selection.add_options(parser)
    processors = [len(os.sched_getaffinity(0))]
    add("--threads", type=numbers, default=processors, help="such as 1,2")
    environment.add_runtimes(parser)
    add("--rounds", type=int, default=6, help="turns of every engine")
    add("--runs", type=int, default=10, help="least runs in a turn")
    add("--size", type=int, default=224, help="width of images, pixels")
    add("--seed", type=int, default=1, help="of the inputs")
    add("--base", help="folder of another clone, one more engine in the turns")
    parsed = parser.parse_args()
    parsed.selected = selection.selected(parser, parsed)
    return parsed


# Before what is slow: --help and mistakes need no packages.
arguments = parse_arguments()
environment.enter_virtual_environment()

from contest import FLOAT_PEERS, QUANTIZED_PEERS, Contest, describe
from table import Table, write_json

FRONT = {
    "runtime": ("runtime", "%s"),
    "threads": ("threads", "%d"),
    "ours_ms": ("ours ms", "%.3f"),
}
FLOAT_COLUMNS = {
    **FRONT,
    **{peer: (peer + " ms", "%.3f") for peer in FLOAT_PEERS},
    "ratio": ("ratio", "%.2f"),
    "max_difference": ("difference", "%.1e"),
    "latencies": ("cores ns", "%s"),
}
QUANTIZED_COLUMNS = {
    "type": ("type", "%s"),
    **FRONT,
    "onnxruntime": ("onnxruntime ms", "%.3f"),
    "onnxruntime_qdq": ("its Q-DQ ms", "%.3f"),
    "openvino": ("openvino ms", "%.3f"),
    "in_8_bits": ("its 8-bit sums", "%s"),
    "ratio": ("ratio", "%.2f"),
    "numpy_equal": ("as NumPy", "%.4f"),
    "equal": ("as onnxruntime", "%.4f"),
    "largest": ("largest", "%d"),
    "top1": ("top-1", "%.2f"),
    "peers_equal": ("openvino as it", "%.4f"),
    "latencies": ("cores ns", "%s"),
}
COMMON_BASE_COLUMNS = {
    "base_ms": ("base ms", "%.3f"),
    "base_ratio": ("ours / base", "%.3f"),
    "ours_mb": ("ours MB", "%.1f"),
    "base_mb": ("base MB", "%.1f"),
}
FLOAT_BASE_COLUMNS = {
    **COMMON_BASE_COLUMNS,
    "base_difference": ("base difference", "%.1e"),
}
QUANTIZED_BASE_COLUMNS = {
    **COMMON_BASE_COLUMNS,
    "base_equal": ("base as NumPy", "%.4f"),
}


def cells(result):
    text = "%.0f-%.0f" % tuple(result["core_to_core_ns_range"])
    row = {**result, **result["peers_ms"], "latencies": text}
    if "agreement" in result:
        row["in_8_bits"] = "%(in_8_bits)d/%(all)d" % result["openvino_sums"]
        row["numpy_equal"] = result["agreement"]["numpy"]["equal"]
        row.update(result["agreement"]["onnxruntime"])
        row["peers_equal"] = result["peers_agreement"]["openvino"]["equal"]
    if "base_agreement" in result:
        row["base_equal"] = result["base_agreement"]["numpy"]["equal"]
    return row


def compare(name, type_name):
    """The rows of one network in one type."""
    network = describe(name, type_name, arguments.size)
    with tempfile.TemporaryDirectory() as folder:
        for threads in arguments.threads:
            contest = Contest(network, threads, arguments)
            contest.start(pathlib.Path(folder))
            yield from contest.results()


def new_table(is_float):
    if is_float:
        columns, base = FLOAT_COLUMNS, FLOAT_BASE_COLUMNS
    else:
        columns, base = QUANTIZED_COLUMNS, QUANTIZED_BASE_COLUMNS
    if arguments.base:
        columns = {**columns, **base}
    return Table("network", columns, 18)


def main():
    tables = {}
    results = []
    for name, type_name in arguments.selected:
        is_float = type_name == "float32"
        if is_float not in tables:
            tables[is_float] = new_table(is_float)
        for result in compare(name, type_name):
            tables[is_float].add(name, cells(result))
            results.append(result)
    write_json(arguments.json, results)


if __name__ == "__main__":
    main()
