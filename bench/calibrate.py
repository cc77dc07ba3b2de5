"""Ranges of the results of a network's layers, for its 8-bit codes.

bench/run.sh calibrate [--networks a,b] writes bench/ranges/NAME.cc of each: the
least and the greatest value of every layer of the float32 network, in ONNX
Runtime, over seeded inputs.  Four digits of each are kept, so that processors
that add in other orders give the same files.
"""

import argparse
import json
import subprocess

import environment

INPUTS = 32
# Streams of values() that neither weights nor other inputs have.
STREAM = 1 << 33


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--networks", default=environment.QUANTIZED_NETWORKS)
    return parser.parse_args()


arguments = parse_arguments()
environment.enter_virtual_environment()

import numpy as np
import onnxruntime

from onnx_model import ModelWriter, values

SOURCE = """\
// Written by bench/calibrate.py.
#include "bench/ranges/ranges.h"

namespace tim::bench {

std::span<const Range> %sRanges() {
  static constexpr Range kRanges[] = {
      %s};
  return kRanges;
}

}  // namespace tim::bench
"""


def ranges(network):
    """Of the result of each layer, (least, greatest)."""
    layers = network["layers"]
    writer = ModelWriter(network)
    model = writer.model(outputs=range(1, len(layers)))
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    least = np.full(len(layers), np.inf)
    greatest = np.full(len(layers), -np.inf)
    for i in range(INPUTS):
        x = values(STREAM + i, 1, layers[0]["shape"])
        results = [x, *session.run(None, {"x0": x})]
        least = np.minimum(least, [result.min() for result in results])
        greatest = np.maximum(greatest, [result.max() for result in results])
    return list(zip(least.tolist(), greatest.tolist()))


def number(value):
    text = "%.4g" % value
    return (text if set(text) & set(".e") else text + ".0") + "f"


def source(name, found):
    words = name.split("_")
    function = "".join(word.capitalize() for word in words)
    pairs = ["{%s, %s}" % tuple(map(number, pair)) for pair in found]
    return SOURCE % (function, ", ".join(pairs))


def main():
    for name in arguments.networks.split(","):
        command = [environment.RUN, "describe", name]
        network = json.loads(subprocess.check_output(command))
        path = environment.ROOT / "bench" / "ranges" / (name + ".cc")
        path.write_text(source(name, ranges(network)))
        subprocess.check_call(["clang-format", "-i", path])


if __name__ == "__main__":
    main()
