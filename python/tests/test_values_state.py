"""Variables, decisions and loops of functions, and functions of the host."""

import numpy as np
import pytest
import timcl
from timcl import values as tv

DATA = np.float32([[1, -2, 3], [-4, 5, -6]])


# ---- Variables, decisions, loops ----------------------------------------------


def test_variables():
    count = tv.Variable(0.0, "count")

    @tv.capture
    def step(x):
        old = count.read()
        count.assign(old + 1.0)
        return old, count.read() + x

    for number in range(5):
        old, new = step(0.5)
        assert old.item() == number and new.item() == number + 1.5
    assert count.read().item() == 5
    count.assign(7.0).wait()
    assert step(0.0)[0].item() == 7
    with pytest.raises(timcl.GraphError):
        count.assign(DATA)
    assert repr(count) == "<timcl.values.Variable 'count'>"


def test_decisions_and_loops_in_every_mode(on_host):
    def function(x):
        y = tv.if_(
            tv.greater(tv.reduce_sum(x), 0.0), [x], lambda a: a * 2.0, lambda a: -a
        )
        y, n = tv.while_(
            [y, 0.0],
            lambda a, i: tv.less(i, 3.0),
            lambda a, i: (a + 1.0, i + 1.0),
            max_trips=10,
        )
        return y, n

    for data in (DATA, -DATA):
        expected = (2 * data if data.sum() > 0 else -data) + 3
        with tv.lazy():
            later = function(tv.value(data))
        for made in (function(tv.value(data)), later, tv.capture(function)(data)):
            np.testing.assert_array_equal(made[0].numpy(), expected)
            assert made[1].item() == 3


# ---- Functions of the host ----------------------------------------------------


def test_holders():
    x = tv.value(DATA)
    sums, most = tv.holder(
        "acme.Rows",
        [x],
        [tv.Spec((2,)), tv.Spec((), "int32")],
        lambda array: (array.sum(1), int(array.max())),
    )
    np.testing.assert_array_equal(sums.numpy(), DATA.sum(1))
    assert most.dtype == "int32" and most.item() == 5
    open_rows = tv.holder(
        "acme.Positive", [x], [tv.Spec((None,))], lambda array: array[array > 0]
    )
    assert open_rows.numpy().tolist() == [1, 3, 5]

    def fails(array):
        raise KeyError("mine")

    with pytest.raises(timcl.GraphError, match="acme.Fails.*mine") as caught:
        tv.holder("acme.Fails", [x], [(2, 3)], fails)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(timcl.GraphError, match="does not hold"):
        tv.holder("acme.Shape", [x], [(2, 4)], lambda array: array)
    with pytest.raises(timcl.GraphError, match="2 arrays, expected 1"):
        tv.holder("acme.Count", [x], [(2, 3)], lambda array: (array, array))

    def later(x):
        return tv.holder("acme.Fails", [x], [(2, 3)], fails) + 1.0

    failing = tv.Graph.capture(later, [(2, 3)]).compile()
    with pytest.raises(timcl.RunError, match="acme.Fails.*KeyError.*mine"):
        failing.run(DATA).numpy()
    nobody = tv.Graph.capture(lambda x: tv.holder("acme.No", [x], [(2, 3)]), [(2, 3)])
    with pytest.raises(timcl.CompileError, match="acme.No"):
        nobody.compile()


def test_ordered_holders_keep_their_order(on_host):
    seen = []

    def note(array):
        seen.append(int(array.ravel()[0]))
        return array

    def function(x):
        made = []
        for number in range(3):
            held = tv.holder(
                "acme.Note", [x + float(number)], [(1,)], note, ordered=True
            )
            made.append(held)
        return made

    program = tv.Graph.capture(function, [(1,)]).compile()
    for _ in range(5):
        for each in program.run(np.zeros(1, np.float32)):
            each.wait()
    assert seen == [0, 1, 2] * 5


SWISH = """
__kernel void swish(__global const float* x, __global float* y, float beta) {
  const size_t i = get_global_id(0);
  y[i] = x[i] / (1 + exp(-beta * x[i]));
}"""


def test_custom_operators_run_at_once_and_in_programs():
    swish = timcl.CustomOp(
        "Swish", SWISH, scalars=(1.0,), host=lambda x: x / (1 + np.exp(-x))
    )
    expected = DATA / (1 + np.exp(-DATA))
    made = tv.call(swish, [tv.value(DATA)])
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-5)
    two = tv.call(swish, [made + 0.0])
    np.testing.assert_allclose(
        two.numpy(), expected / (1 + np.exp(-expected)), rtol=1e-5
    )

    @tv.capture
    def function(x):
        return tv.call(swish, [x * 1.0]) + 1.0

    for _ in range(3):
        np.testing.assert_allclose(function(DATA).numpy(), expected + 1, rtol=1e-5)
    with pytest.raises(timcl.ArgumentError, match="specialize"):
        tv.Graph.capture(lambda x: tv.call(swish, [x]), [(None, 3)])
    with pytest.raises(timcl.ArgumentError, match="inputs are given"):
        tv.call(swish, [DATA, DATA])
