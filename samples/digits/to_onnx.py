"""The float32 network as an ONNX model, and a digit as a picture, for Python.

`python3 to_onnx.py` reads data/ and writes data/digits.onnx, whose input is a
picture of pixels from 0 to 16, and data/digit.pgm, a held-out digit.
"""

import pathlib

import numpy as np

import tensor_file
from onnx_writer import model, node, value

DATA = pathlib.Path(__file__).resolve().parent / "data"
DIGIT = 7  # the class of the picture


def network(tensors):
    constants = {
        name: tensor.array.astype(np.float32)
        for name, tensor in tensors.items()
        if tensor.array is not None
    }
    constants["scale"] = np.float32(tensors["input"].scale).reshape(1)
    same = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    layer = lambda name: [name + ".weight", name + ".bias"]
    nodes = [
        node("Mul", ["picture", "scale"], ["scaled"]),
        node("Conv", ["scaled", *layer("conv1")], ["conv1"], **same),
        node("Relu", ["conv1"], ["relu1"]),
        node("Conv", ["relu1", *layer("conv2")], ["conv2"], **same),
        node("Relu", ["conv2"], ["relu2"]),
        node("MaxPool", ["relu2"], ["pool"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", ["pool"], ["flat"]),
        node("Gemm", ["flat", *layer("fc1")], ["fc1"], transB=1),
        node("Relu", ["fc1"], ["relu3"]),
        node("Gemm", ["relu3", *layer("fc2")], ["fc2"], transB=1),
        node("Softmax", ["fc2"], ["scores"]),
    ]
    return model(
        nodes,
        [value("picture", "float32", [1, 1, 8, 8])],
        [value("scores", "float32", [1, 10])],
        constants,
    )


def picture(heldout):
    labels = heldout["labels"].array.reshape(-1)
    pixels = heldout["images"].array[np.flatnonzero(labels == DIGIT)[0], 0]
    rows = [" ".join("%2d" % pixel for pixel in row) for row in pixels]
    return "P2\n8 8\n16\n" + "\n".join(rows) + "\n"


def main():
    tensors = tensor_file.load(DATA / "lenet_f32.bin")
    (DATA / "digits.onnx").write_bytes(network(tensors))
    heldout = tensor_file.load(DATA / "heldout.bin")
    (DATA / "digit.pgm").write_text(picture(heldout))


if __name__ == "__main__":
    main()
