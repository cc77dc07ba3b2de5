"""Models of files."""

import random

import numpy as np
import pytest

import timcl
from onnx_writer import model, node, value

from .conftest import needs_importers

X = np.float32([[1, -2, 3], [-4, 5, -6]])
GATE = """
__kernel void gate(__global const float* x, __global float* y, float by) {
  const size_t i = get_global_id(0);
  y[i] = x[i] > 0 ? by * x[i] : 0;
}
"""


def relu_model(shape=(2, 3), op="Relu", domain="", **attributes):
    return model(
        [node(op, ["x"], ["y"], "the_node", domain, **attributes)],
        [value("x", "float32", shape)],
        [value("y", "float32", shape)],
        domains=[domain] if domain else [],
    )


def test_binary_graphs(relu, tmp_path):
    relu.save(tmp_path / "relu.timcl")
    for source in (
        tmp_path / "relu.timcl",
        str(tmp_path / "relu.timcl"),
        relu.to_bytes(),
    ):
        loaded = timcl.load(source)
        assert [str(port) for port in loaded.inputs] == ["x: float32 [2, 3]"]
        assert [port.name for port in loaded.outputs] == ["y"]
        np.testing.assert_array_equal(loaded(X), np.maximum(X, 0))


def test_binary_graphs_that_are_damaged(relu):
    content = relu.to_bytes()
    for damaged in (content[:-1], content[:40], content[:200] + b"\1" + content[201:]):
        with pytest.raises(timcl.ModelError, match="binary graph"):
            timcl.load(damaged, format="binary")


def test_sources_that_are_none(tmp_path):
    with pytest.raises(timcl.ModelError, match="No such file"):
        timcl.load(tmp_path / "absent.timcl")
    with pytest.raises(timcl.ModelError):
        timcl.load(tmp_path / "absent.onnx")
    with pytest.raises(timcl.ModelError):
        timcl.load(tmp_path)
    with pytest.raises(timcl.ArgumentError, match="path or its bytes"):
        timcl.load(3)
    with pytest.raises(timcl.ArgumentError, match="format"):
        timcl.load(b"", format="caffe")
    with pytest.raises(timcl.ArgumentError, match="no device"):
        timcl.load(b"", device="gpu:9")


@needs_importers
def test_onnx(tmp_path):
    (tmp_path / "relu.onnx").write_bytes(relu_model())
    for source in (tmp_path / "relu.onnx", relu_model()):
        loaded = timcl.load(source)
        assert "x: float32 [2, 3]" in repr(loaded)
        np.testing.assert_array_equal(loaded.run({"x": X})["y"], np.maximum(X, 0))
    np.testing.assert_array_equal(
        timcl.load(relu_model(), device="host")(X), np.maximum(X, 0)
    )


@needs_importers
def test_extents_that_files_leave_open():
    content = relu_model(("N", 3))
    with pytest.raises(timcl.ModelError, match="N"):
        timcl.load(content)
    for options in ({"dims": {"N": 2}}, {"shapes": {"x": (2, 3)}}):
        np.testing.assert_array_equal(
            timcl.load(content, **options)(X), np.maximum(X, 0)
        )


@needs_importers
def test_inputs_with_known_values():
    content = model(
        [node("Add", ["x", "bias"], ["y"])],
        [value("x", "float32", (2, 3)), value("bias", "float32", (3,))],
        [value("y", "float32", (2, 3))],
    )
    loaded = timcl.load(content, values={"bias": np.float32([1, 2, 3])})
    assert [port.name for port in loaded.inputs] == ["x"]
    np.testing.assert_allclose(loaded(X), X + [1, 2, 3])


@pytest.mark.parametrize(
    "options",
    [{"shapes": {"x": (2**70, 1)}}, {"dims": {"n": 2**70}}, {"most_trips": 2**70}],
)
def test_numbers_fit_64_bits(options):
    with pytest.raises(timcl.ArgumentError, match="more than 64 bits"):
        timcl.load(b"", format="onnx", **options)


@needs_importers
def test_refusals_are_data():
    content = model(
        [
            node("Gate", ["x"], ["a"], "first", "com.acme"),
            node("Other", ["x"], ["b"], "second", "com.acme"),
            node("Add", ["a", "b"], ["y"]),
        ],
        [value("x", "float32", (2, 3))],
        [value("y", "float32", (2, 3))],
        domains=["com.acme"],
    )
    with pytest.raises(timcl.ModelError) as caught:
        timcl.load(content)
    refused = caught.value.refusals
    assert [each.node for each in refused] == ["first", "second"]
    assert refused[0].op == "com.acme.Gate" and refused[0].reason


@needs_importers
def test_nodes_supplied_by_custom_operators():
    content = relu_model(op="Gate", domain="com.acme", gain=3.0)
    op = timcl.CustomOp(
        "Gate", GATE, scalars=(2.0,), host=lambda x: np.maximum(2 * x, 0)
    )
    loaded = timcl.load(content, custom={"com.acme.Gate": op}, device="host")
    np.testing.assert_array_equal(loaded(X), np.maximum(2 * X, 0))

    seen = []

    def supply(graph, wanted):
        seen.append(wanted)
        gain = wanted.attributes["gain"][0]
        return graph.op("Multiply", [graph.op("Relu", wanted.inputs), gain])

    for custom in (supply, {"com.acme.Gate": supply}):
        loaded = timcl.load(content, custom=custom)
        np.testing.assert_allclose(loaded(X), np.maximum(3 * X, 0))
    assert seen[0].name == "the_node" and seen[0].output_count == 1
    assert seen[0].inputs[0].shape == (2, 3)


@needs_importers
def test_suppliers_that_fail():
    content = relu_model(op="Gate", domain="com.acme")
    with pytest.raises(timcl.ModelError):
        timcl.load(content, custom=lambda graph, wanted: None)
    with pytest.raises(ZeroDivisionError):
        timcl.load(content, custom=lambda graph, wanted: 1 / 0)
    with pytest.raises(timcl.ArgumentError, match="expected 1 tensors"):
        timcl.load(content, custom=lambda graph, wanted: [])
    with pytest.raises(timcl.GraphError, match="axis"):
        timcl.load(
            content,
            custom=lambda graph, wanted: graph.op(
                "Softmax", wanted.inputs, axis=9, beta=1.0
            ),
        )
    with pytest.raises(timcl.ArgumentError):
        timcl.load(content, custom=3)


@needs_importers
def test_tflite_files_that_are_none(tmp_path):
    for content in (b"\x1c\0\0\0TFL3", b"\x1c\0\0\0TFL3" + b"\xff" * 200):
        with pytest.raises(timcl.ModelError):
            timcl.load(content)
        (tmp_path / "a.tflite").write_bytes(content)
        with pytest.raises(timcl.ModelError, match="a.tflite"):
            timcl.load(tmp_path / "a.tflite")


@needs_importers
def test_hostile_files():
    content = relu_model()
    generator = random.Random(5)
    for _ in range(200):
        damaged = bytearray(content)
        for _ in range(generator.randint(1, 4)):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        damaged = damaged[: generator.randint(1, len(damaged))]
        try:
            timcl.load(bytes(damaged), format="onnx", device="host")
        except timcl.Error as error:
            assert str(error)
