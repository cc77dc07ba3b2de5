"""Arrays in and out: what is used in place, what is copied, what is refused."""

import numpy as np
import pytest

import timcl
from timcl import arrays

from .conftest import Foreign


class OnADevice(Foreign):
    def __dlpack__(self, **arguments):
        raise BufferError("it lies on a device")


DATA = np.float32([[1, -2, 3], [-4, 5, -6]])


def test_dense_arrays_are_used_in_place():
    assert arrays.fitting(DATA, "x", "float32", (2, 3)) is DATA
    foreign = arrays.fitting(Foreign(DATA), "x", "float32", (2, 3))
    assert foreign.ctypes.data == DATA.ctypes.data


def test_other_orders_are_copied_once(relu):
    turned = np.asfortranarray(DATA)
    strided = np.zeros((2, 6), np.float32)[:, ::2]
    strided[:] = DATA
    unaligned = np.frombuffer(b"\0" + DATA.tobytes(), np.uint8)[1:].view(np.float32)
    for array in (DATA, turned, strided, unaligned.reshape(2, 3), Foreign(DATA)):
        np.testing.assert_array_equal(relu(array), np.maximum(DATA, 0))


def test_numbers_and_lists_become_the_inputs_type(relu):
    np.testing.assert_array_equal(relu([[1, -2, 3], [-4, 5, -6]]), np.maximum(DATA, 0))
    with pytest.raises(timcl.ArgumentError, match="no array of numbers|no array can"):
        relu([[1, 2], [3]])
    with pytest.raises(timcl.ArgumentError, match="type"):
        relu([["a", "b", "c"]] * 2)


def test_results_are_written_in_place(relu):
    out = timcl.empty("float32", (2, 3))
    assert out.ctypes.data % 64 == 0
    results = relu.run({"x": DATA}, out={"y": out})
    assert results["y"] is out
    np.testing.assert_array_equal(out, np.maximum(DATA, 0))


def test_results_are_aligned_and_go_by_dlpack(relu):
    result = relu(DATA)
    assert result.ctypes.data % 64 == 0 and result.flags.c_contiguous
    np.testing.assert_array_equal(np.from_dlpack(result), np.maximum(DATA, 0))


def test_results_of_two_runs_are_two_arrays(relu):
    first = relu(DATA)
    second = relu(-DATA)
    np.testing.assert_array_equal(first, np.maximum(DATA, 0))
    np.testing.assert_array_equal(second, np.maximum(-DATA, 0))


@pytest.mark.parametrize(
    "inputs, text",
    [
        ({"x": DATA.astype(np.float64)}, "type float64, expected float32"),
        ({"x": DATA[:1]}, r"shape \[1, 3\], expected \[2, 3\]"),
        ({"x": DATA.ravel()}, r"shape \[6\]"),
        ({"z": DATA}, "no input 'z'; there are 'x'"),
        ({}, "input 'x' is missing"),
        ([DATA, DATA], "1 arrays"),
        (DATA, "a dict or a sequence"),
        ({"x": None}, "input 'x'"),
        ({"x": OnADevice(DATA)}, "by DLPack .it lies on a device"),
    ],
)
def test_inputs_that_do_not_fit(relu, inputs, text):
    with pytest.raises(timcl.ArgumentError, match=text):
        relu.run(inputs)


def test_calls_that_do_not_fit(relu):
    with pytest.raises(timcl.ArgumentError, match="2 arrays are given"):
        relu(DATA, DATA)
    with pytest.raises(timcl.ArgumentError, match="given twice"):
        relu(DATA, x=DATA)
    np.testing.assert_array_equal(relu(x=DATA), np.maximum(DATA, 0))


@pytest.mark.parametrize(
    "out, text",
    [
        (np.zeros((2, 3)), "type float64"),
        (np.zeros((3, 2), np.float32), "shape"),
        (np.zeros((3, 2), np.float32).T, "one piece"),
        ([[0.0] * 3] * 2, "not to list"),
    ],
)
def test_memory_that_cannot_be_written(relu, out, text):
    with pytest.raises(timcl.ArgumentError, match=text):
        relu.run({"x": DATA}, out={"y": out})


def test_memory_that_may_only_be_read(relu):
    out = np.zeros((2, 3), np.float32)
    out.flags.writeable = False
    with pytest.raises(timcl.ArgumentError, match="only be read"):
        relu.run({"x": DATA}, out={"y": out})
    with pytest.raises(timcl.ArgumentError, match="no output 'z'"):
        relu.run({"x": DATA}, out={"z": out})
    with pytest.raises(timcl.ArgumentError, match="out is a list"):
        relu.run({"x": DATA}, out=[out])


def test_packed_types_are_bytes():
    graph = timcl.Graph()
    x = graph.input((2, 3), "uint4", "x")
    graph.output(x, "y")
    graph.compile()
    assert graph.inputs[0].array_shape == (2, 2)
    assert graph.inputs[0].numpy_dtype == np.uint8
    data = np.array([[0x21, 0x03], [0x54, 0x06]], np.uint8)
    np.testing.assert_array_equal(graph(data), data)
