"""Custom operators from Python."""

import gc
import weakref

import numpy as np
import pytest

import timcl

SCALE = """
__kernel void scale(__global const float* x, __global float* y, float by) {
  const size_t i = get_global_id(0);
  y[i] = by * x[i];
}
"""
X = np.float32([[1, 2, 3], [4, 5, 6]])


def has_opencl():
    graph = timcl.Graph()
    op = timcl.CustomOp("Probe", SCALE, scalars=(1.0,))
    graph.output(graph.op(op, [graph.input((1,))]))
    try:
        graph.compile()
    except timcl.CompileError:
        return False
    return True


needs_opencl = pytest.mark.skipif(
    not has_opencl(), reason="there is no OpenCL device for kernels"
)


def run(op, *arrays, device=None, **arguments):
    graph = timcl.Graph(device)
    inputs = [graph.input(each.shape, each.dtype) for each in arrays]
    made = graph.op(op, inputs, **arguments)
    for each in made if isinstance(made, tuple) else (made,):
        graph.output(each)
    return graph(*arrays)


@needs_opencl
def test_ten_lines():
    twice = timcl.CustomOp(
        "Twice",
        """
    __kernel void twice(__global const float* x, __global float* y) {
      const size_t i = get_global_id(0);
      y[i] = 2 * x[i];
    }""",
    )
    graph = timcl.Graph()
    x = graph.input((2, 3))
    graph.output(graph.op(twice, [x]))
    np.testing.assert_array_equal(graph(X), 2 * X)


@needs_opencl
def test_scalars():
    op = timcl.CustomOp("Scale", SCALE, scalars=(0.5,))
    np.testing.assert_array_equal(run(op, X), X / 2)
    np.testing.assert_array_equal(run(op, X, scalars=(3.0,)), X * 3)
    np.testing.assert_array_equal(
        run(op, X, scalars=lambda x, y: (float(x[1]),)), X * 3
    )
    np.testing.assert_array_equal(run(op, X, scalars=[np.float32(2)]), X * 2)


@needs_opencl
def test_scalars_of_all_kinds():
    op = timcl.CustomOp(
        "All",
        """
    __kernel void sum_all(__global const int* x, __global int* y, int4 v, uint u, int b,
                      ulong w) {
      const int i = get_global_id(0);
      y[i] = x[i] + v.s3 + (int)u + (b ? 1000 : 0) + (int)(w >> 63);
    }""",
        scalars=((1, 2, 3, 40), 500, True, 2**63),
    )
    np.testing.assert_array_equal(run(op, np.int32([1, 2])), [1542, 1543])


@needs_opencl
def test_shapes_sizes_and_types():
    op = timcl.CustomOp(
        "Columns",
        """
        __kernel void columns(__global const float* x, __global int* y, int rows) {
          const int column = get_global_id(0);
          if (column >= COLUMNS) return;
          float sum = 0;
          for (int row = 0; row < rows; ++row) sum += x[row * COLUMNS + column];
          y[column] = (int)sum;
        }""",
        scalars=lambda x, y: (x[0],),
        output_shapes=lambda x: (x[1],),
        output_dtypes="int32",
        global_size=lambda x, y: -(-y[0] // 4) * 4,
        local_size=4,
        build_options=lambda x, y: f"-DCOLUMNS={x[1]}",
    )
    result = run(op, X)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, [5, 7, 9])


@needs_opencl
def test_several_outputs_and_kernels_in_a_graph(rng):
    op = timcl.CustomOp(
        "Halves",
        """
        __kernel void other(__global const float* x) {}
        __kernel void halves(__global const float* x, __global float* a,
                             __global float* b) {
          const size_t i = get_global_id(0);
          a[i] = x[2 * i];
          b[i] = x[2 * i + 1];
        }""",
        outputs=2,
        function="halves",
        output_shapes=lambda x: [(x[0] // 2,), (x[0] // 2,)],
    )
    graph = timcl.Graph()
    x = graph.input((8,))
    even, odd = graph.op(op, [graph.op("Neg", [x])])
    graph.output(graph.op("Add", [even, odd]))
    data = rng.normal(size=8).astype(np.float32)
    np.testing.assert_allclose(graph(data), -(data[::2] + data[1::2]), rtol=1e-6)


@needs_opencl
def test_optional_inputs():
    op = timcl.CustomOp(
        "Biased",
        """
        __kernel void biased(__global const float* x, __global const float* bias,
                             __global float* y) {
          const size_t i = get_global_id(0);
          y[i] = x[i] + (TIM_HAS_INPUT1 ? bias[i] : 7);
        }""",
        inputs=2,
        optional_inputs=[1],
    )
    np.testing.assert_array_equal(run(op, X), X + 7)
    np.testing.assert_array_equal(run(op, X, X), 2 * X)


def test_host_functions():
    op = timcl.CustomOp("Scale", SCALE, scalars=(2.0,), host=lambda x: 2 * x)
    np.testing.assert_array_equal(run(op, X, device="host"), 2 * X)


def test_arrays_of_host_functions_may_be_kept():
    kept = []
    op = timcl.CustomOp("Keep", SCALE, host=lambda x: kept.append(x) or x)
    for _ in range(3):
        run(op, X, device="host")
    gc.collect()
    for array in kept:
        np.testing.assert_array_equal(array, X)


@pytest.mark.parametrize(
    "host, text",
    [
        (lambda x: x[0], r"shape \[3\], expected \[2, 3\]"),
        (lambda x: (x, x), "returned 2 arrays"),
        (lambda x: x.astype(int), "type int64, expected float32"),
        (lambda x: None, "result 0"),
        (lambda x: {}[0], "KeyError"),
    ],
)
def test_host_functions_that_are_wrong(host, text):
    op = timcl.CustomOp("Wrong", SCALE, host=host)
    with pytest.raises(timcl.RunError, match=text):
        run(op, X, device="host")


def test_without_host_function_it_needs_a_device():
    with pytest.raises(timcl.CompileError, match="OpenCL"):
        run(timcl.CustomOp("Scale", SCALE, scalars=(1.0,)), X, device="host")


def test_exceptions_of_functions_are_the_cause():
    def shapes(x):
        raise RuntimeError("no shape today")

    op = timcl.CustomOp("Raises", SCALE, output_shapes=shapes)
    with pytest.raises(
        timcl.GraphError, match="RuntimeError: no shape today"
    ) as caught:
        run(op, X)
    assert isinstance(caught.value.__cause__, RuntimeError)
    # Another failure has no such cause.
    with pytest.raises(timcl.GraphError) as caught:
        timcl.Graph().op("Relu", [])
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"output_shapes": lambda x: 3}, "output_shapes returned 3"),
        ({"output_shapes": lambda x: (0,)}, "at least 1"),
        ({"output_shapes": lambda x: [(2,), (3,)]}, "output_shapes"),
    ],
)
def test_shapes_that_are_wrong(arguments, text):
    with pytest.raises(timcl.GraphError, match=text):
        run(timcl.CustomOp("Wrong", SCALE, **arguments), X)


@needs_opencl
@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"scalars": ()}, "parameters"),
        ({"scalars": (1,)}, "scalar"),
        ({"scalars": (1.0,), "global_size": lambda x, y: 0}, "global_size is 0"),
        ({"scalars": (1.0,), "local_size": (2, 2)}, "local_size has 2 numbers"),
        ({"scalars": (1.0,), "local_size": 4}, "local size"),
        ({"scalars": (1.0,), "function": "absent"}, "no kernel 'absent'"),
        ({"scalars": lambda x, y: ("a",)}, "expected a number"),
        ({"scalars": (1.0,), "build_options": lambda x, y: 3}, "expected a text"),
    ],
)
def test_what_compile_refuses(arguments, text):
    with pytest.raises(timcl.CompileError, match=text):
        run(timcl.CustomOp("Wrong", SCALE, **arguments), X)


@needs_opencl
def test_text_that_does_not_compile():
    bad = SCALE.replace("by * x[i]", "by * nothing[i]")
    with pytest.raises(timcl.CompileError, match="nothing"):
        run(timcl.CustomOp("Bad", bad, scalars=(1.0,)), X)


@pytest.mark.parametrize(
    "arguments, text",
    [
        (("1st", SCALE), "name"),
        (("A", 3), "not text"),
        (("A", "no kernel"), "0 kernels"),
        (("A", SCALE + SCALE.replace("scale", "other")), "2 kernels .scale, other"),
        (("A", "// __kernel void a()\n" + SCALE, 0), "inputs is 0"),
        (("A", SCALE, 1, 99), "outputs is 99"),
    ],
)
def test_definitions_that_are_wrong(arguments, text):
    with pytest.raises(timcl.ArgumentError, match=text):
        timcl.CustomOp(*arguments)


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"scalars": 3}, "expected a tuple"),
        ({"scalars": ("a",)}, "scalar 0"),
        ({"scalars": ((1, 2, 3, 4, 5),)}, "2, 3, 4, 8 or 16"),
        ({"scalars": ((1, 2.0),)}, "one type"),
        ({"scalars": (2**64,)}, "64 bits"),
        ({"global_size": (1, 2, 3, 4)}, "1 to 3"),
        ({"local_size": "big"}, "integers"),
        ({"host": 3}, "expected a function"),
        ({"optional_inputs": [1]}, "no input 1"),
        ({"output_dtypes": ["int8", "int8"]}, "2 entries for 1"),
    ],
)
def test_options_that_are_wrong(arguments, text):
    with pytest.raises(timcl.ArgumentError, match=text):
        timcl.CustomOp("A", SCALE, **arguments)


def test_operands_that_are_wrong():
    graph = timcl.Graph()
    x = graph.input((2,))
    op = timcl.CustomOp("A", SCALE)
    with pytest.raises(timcl.ArgumentError, match="2 inputs are given, expected 1"):
        graph.op(op, [x, x])
    with pytest.raises(timcl.ArgumentError, match="no attribute 'axis'"):
        graph.op(op, [x], axis=1)


def test_binary_graphs_keep_kernels(tmp_path):
    if not has_opencl():
        pytest.skip("there is no OpenCL device for kernels")
    graph = timcl.Graph()
    op = timcl.CustomOp("Scale", SCALE, scalars=(4.0,))
    graph.output(graph.op(op, [graph.input((2, 3))]))
    graph.save(tmp_path / "scale.timcl")
    np.testing.assert_array_equal(timcl.load(tmp_path / "scale.timcl")(X), 4 * X)


def test_functions_go_with_their_graph():
    op = timcl.CustomOp("Same", "__kernel void same() {}", host=lambda x: x)
    graph = timcl.Graph("host")
    graph.output(graph.op(op, [graph.input((2,))]))
    graph(np.float32([1, 2]))
    gone = weakref.ref(op)
    del op, graph
    gc.collect()
    assert gone() is None


def test_results_outlive_their_graph():
    graph = timcl.Graph("host")
    graph.output(graph.op("Relu", [graph.input((3,))]))
    result = graph(np.float32([-1, 0, 1]))
    del graph
    gc.collect()
    np.testing.assert_array_equal(result, [0, 0, 1])
