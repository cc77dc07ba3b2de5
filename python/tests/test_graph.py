"""Graphs operator by operator; on the host, where kernels are not built, but for the
first."""

import numpy as np
import pytest

import timcl


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def test_shapes_are_numpys_and_axes_the_operators(rng):
    graph = timcl.Graph()
    x = graph.input((2, 5), name="x")
    rows = graph.op("Softmax", [x], axis=0, beta=1.0)
    columns = graph.op("Softmax", [x], axis=1, beta=1)
    assert rows.shape == (2, 5) and rows.dtype == "float32"
    graph.output(rows, "rows")
    graph.output(columns, "columns")
    data = rng.normal(size=(2, 5)).astype(np.float32)
    results = graph.run({"x": data})
    assert list(results) == ["rows", "columns"]
    np.testing.assert_allclose(results["rows"], softmax(data, 1), rtol=1e-5)
    np.testing.assert_allclose(results["columns"], softmax(data, 0), rtol=1e-5)


def test_shapes_of_results_are_known_at_once():
    graph = timcl.Graph("host")
    x = graph.input((1, 8, 8, 3))
    assert graph.op("Transpose", [x], perm=[1, 2, 0, 3]).shape == (1, 3, 8, 8)
    kernel = np.zeros((4, 3, 3, 3), np.float32)
    picture = graph.op("Transpose", [x], perm=[1, 2, 0, 3])
    made = graph.op(
        "Conv2d", [picture, kernel], padding="same", stride=[2, 2], dilation=[1, 1]
    )
    assert made.shape == (1, 4, 4, 4)


def test_arrays_and_numbers_are_constants(rng):
    graph = timcl.Graph("host")
    x = graph.input((3, 4))
    bias = rng.normal(size=4).astype(np.float32)
    graph.output(graph.op("Multiply", [graph.op("Add", [x, bias]), 2.0]))
    data = rng.normal(size=(3, 4)).astype(np.float32)
    np.testing.assert_allclose(graph(data), (data + bias) * 2, rtol=1e-6)


def test_constants_are_copies(rng):
    graph = timcl.Graph("host")
    x = graph.input((4,))
    bias = np.ones(4, np.float32)
    graph.output(graph.op("Add", [x, bias]))
    bias[:] = 100
    np.testing.assert_array_equal(graph(np.zeros(4, np.float32)), np.ones(4))


def test_operators_with_several_results():
    graph = timcl.Graph("host")
    x = graph.input((2, 6))
    parts = graph.op("Split", [x], outputs=2, axis=0, slices=[2, 4])
    assert [part.shape for part in parts] == [(2, 2), (2, 4)]
    for part in parts:
        graph.output(part)
    data = np.arange(12, dtype=np.float32).reshape(2, 6)
    left, right = graph(data)
    np.testing.assert_array_equal(left, data[:, :2])
    np.testing.assert_array_equal(right, data[:, 2:])


def test_quantized_results(rng):
    graph = timcl.Graph("host")
    codes = timcl.Quantization(0.05, 128)
    x = graph.input((4, 8), "uint8", "x", quantization=codes)
    y = graph.op("Relu", [x], dtype="uint8", quantization=codes)
    graph.output(y, "y")
    graph.compile()
    real = rng.uniform(-5, 5, size=(4, 8))
    result = graph(graph.inputs[0].quantize(real))
    assert result.dtype == np.uint8 and graph.outputs[0].quantization == codes
    np.testing.assert_allclose(
        graph.outputs[0].dequantize(result), np.maximum(real, 0), atol=0.026
    )


def test_quantization_per_channel():
    scales = timcl.Quantization((0.5, 0.25), axis=0)
    codes = scales.quantize([[1.0, -1.0], [1.0, -1.0]], "int8")
    np.testing.assert_array_equal(codes, [[2, -2], [4, -4]])
    np.testing.assert_allclose(scales.dequantize(codes), [[1, -1], [1, -1]])
    graph = timcl.Graph("host")
    kernel = graph.constant(codes, quantization=scales)
    assert kernel.quantization == scales


def test_inputs_and_constants_may_be_outputs():
    graph = timcl.Graph("host")
    x = graph.input((2, 2), name="x")
    graph.output(x, "copy")
    graph.output(graph.constant(np.float32([1, 2])), "constant")
    results = graph.run([np.float32([[1, 2], [3, 4]])])
    np.testing.assert_array_equal(results["copy"], [[1, 2], [3, 4]])
    np.testing.assert_array_equal(results["constant"], [1, 2])


def test_a_result_may_be_output_and_operand():
    graph = timcl.Graph("host")
    x = graph.input((3,))
    middle = graph.op("Relu", [x])
    graph.output(middle, "middle")
    graph.output(graph.op("Neg", [middle]), "end")
    middle, end = graph(np.float32([-1, 0, 2]))
    np.testing.assert_array_equal(middle, [0, 0, 2])
    np.testing.assert_array_equal(end, [0, 0, -2])


def test_states_are_left_for_the_next_run():
    graph = timcl.Graph("host")
    x = graph.input((2,), name="x")
    total = graph.state((2,), name="total", value=np.float32([10, 20]))
    graph.op("Add", [total, x], outputs=[total])
    graph.output(graph.op("Relu", [x]), "y")
    one = np.ones(2, np.float32)
    graph(one)
    graph(one)
    np.testing.assert_array_equal(graph.read(total), [12, 22])
    graph.write(total, np.float32([0, 0]))
    graph(one)
    np.testing.assert_array_equal(graph.read(total), [1, 1])


def test_types_of_elements():
    for dtype in ("float16", "float32", "int32", "uint8", "bool"):
        graph = timcl.Graph("host")
        graph.output(graph.op("Reshape", [graph.input((2, 3), dtype)], shape=[6]))
        data = (np.arange(6) % 2).astype(dtype).reshape(2, 3)
        result = graph(data)
        assert result.dtype == data.dtype
        np.testing.assert_array_equal(result, data.reshape(6))


def test_graph_says_what_is_wrong_with_an_operation():
    graph = timcl.Graph("host")
    x = graph.input((2, 3))
    with pytest.raises(timcl.GraphError, match="axis"):
        graph.op("Softmax", [x], axis=5, beta=1.0)
    with pytest.raises(timcl.GraphError, match="input"):
        graph.op("Relu", [x, x, x])
    with pytest.raises(timcl.ArgumentError, match="did you mean 'Softmax'"):
        graph.op("SoftMax", [x], axis=0, beta=1.0)
    with pytest.raises(timcl.ArgumentError, match="no attribute 'axs'.*'axis'"):
        graph.op("Softmax", [x], axs=0, beta=1.0)
    with pytest.raises(timcl.ArgumentError, match="Softmax needs .*axis"):
        graph.op("Softmax", [x])
    with pytest.raises(timcl.ArgumentError, match="'axis' is 1.5, expected an integer"):
        graph.op("Softmax", [x], axis=1.5, beta=1.0)
    with pytest.raises(timcl.ArgumentError, match="expected one of .*same"):
        graph.op("Conv2d", [x, x], padding="some", stride=[1, 1], dilation=[1, 1])
    with pytest.raises(timcl.ArgumentError, match="64 bits"):
        graph.op("Softmax", [x], axis=2**70, beta=1.0)
    # What was refused is not in the graph.
    graph.output(graph.op("Relu", [x]))
    np.testing.assert_array_equal(graph(np.ones((2, 3), np.float32)), np.ones((2, 3)))


def test_bad_arguments():
    graph = timcl.Graph("host")
    for shape in [(0, 2), (-1,), "abc", (2**33,)]:
        with pytest.raises(timcl.ArgumentError):
            graph.input(shape)
    with pytest.raises(timcl.GraphError):
        graph.input((1,) * 9)
    for dtype in ("float64", "complex64", "nonsense", object()):
        with pytest.raises(timcl.ArgumentError):
            graph.input((2,), dtype)
    x = graph.input((2,), name="x")
    with pytest.raises(timcl.ArgumentError, match="'x' already"):
        graph.input((2,), name="x")
    with pytest.raises(timcl.ArgumentError):
        graph.output("x")
    with pytest.raises(timcl.ArgumentError):
        graph.op("Relu", ["x"])
    with pytest.raises(timcl.ArgumentError):
        graph.op("Relu", 3)
    with pytest.raises(timcl.ArgumentError):
        graph.op(7, [x])
    with pytest.raises(timcl.ArgumentError):
        graph.op("Relu", [x], outputs=0)
    with pytest.raises(timcl.ArgumentError):
        graph.op("Relu", [x], outputs=["y"])
    with pytest.raises(timcl.ArgumentError):
        graph.constant(np.array(["a"]))
    with pytest.raises(timcl.ArgumentError):
        graph.input((2,), "uint8", quantization=0.5)
    with pytest.raises(timcl.ArgumentError, match="axis 3"):
        graph.input((2,), "uint8", quantization=timcl.Quantization((1, 2), axis=3))
    with pytest.raises(timcl.ArgumentError, match="axis"):
        timcl.Quantization((1, 2))
    with pytest.raises(ValueError):
        graph.input((0,))


def test_tensors_of_other_graphs_are_refused():
    x = timcl.Graph("host").input((2,))
    graph = timcl.Graph("host")
    graph.input((2,))
    with pytest.raises(timcl.GraphError):
        graph.op("Relu", [x])


def test_outputs_are_needed_and_single():
    graph = timcl.Graph("host")
    y = graph.op("Relu", [graph.input((2,))])
    with pytest.raises(timcl.GraphError, match="no outputs"):
        graph.compile()
    graph.output(y)
    with pytest.raises(timcl.ArgumentError, match="already"):
        graph.output(y)
    graph.compile()
    with pytest.raises(timcl.GraphError, match="compiled"):
        graph.input((2,))


def test_operators_are_listed():
    table = timcl.operators()
    assert len(table) > 100
    beta = table["Softmax"].attributes["beta"]
    assert beta.kind == "float"
    assert "avg_padded" in table["Pool2d"].attributes["type"].values
    # Keywords of op() hide no attribute.
    for operator in table.values():
        assert not {"outputs", "dtype", "quantization", "name"} & set(
            operator.attributes
        )


def test_every_operator_can_be_asked_for():
    """Whatever its operands and attributes are: a result, or an error of ours."""
    graph = timcl.Graph("host")
    x = graph.input((2, 3, 4, 5))
    plain = {
        "bool": False, "int": 1, "float": 1.0, "text": "",
        "ints": [1, 1], "floats": [1.0], "texts": [],
    }  # fmt: skip
    made = 0
    for operator in timcl.operators().values():
        given = {
            each.name: next(iter(each.values.values()), plain[each.kind])
            for each in operator.attributes.values()
            if each.required
        }
        try:
            results = graph.op(operator.name, [x] * operator.least_inputs, **given)
        except timcl.Error as error:
            assert operator.name in str(error)
            continue
        made += 1
        many = results if isinstance(results, tuple) else (results,)
        assert len(many) == max(operator.least_outputs, 1)
        assert all(result.dtype for result in many)
    assert made > 60


def test_operators_have_their_least_outputs():
    graph = timcl.Graph("host")
    mean, variance = graph.op(
        "Moments", [graph.input((2, 4))], axes=[0], keep_dims=False
    )
    graph.output(mean)
    graph.output(variance)
    data = np.float32([[1, 2, 3, 4], [0, 0, 0, 8]])
    mean, variance = graph(data)
    np.testing.assert_allclose(mean, data.mean(axis=1))
    np.testing.assert_allclose(variance, data.var(axis=1))
