"""Captured functions, graphs, programs and modes."""

import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest
import timcl
from timcl import values as tv

DATA = np.float32([[1, -2, 3], [-4, 5, -6]])


def relu(data):
    return np.maximum(data, 0)


# ---- Lazy mode --------------------------------------------------------------


def test_lazy_calls_run_when_they_are_asked_for():
    x = tv.value(DATA)
    with tv.lazy():
        total = x
        for _ in range(100):
            total = total + x
        assert total.pending and "pending" in repr(total)
    assert total.pending
    np.testing.assert_array_equal(total.numpy(), 101 * DATA)
    assert not total.pending
    assert "a value was asked for" in tv.explain()


def test_flush_runs_and_scopes_nest():
    x = tv.value(DATA)
    with tv.lazy():
        with tv.eager():
            assert not (x + 1.0).pending
        a, b = x + 1.0, x + 2.0
        tv.flush([a]).wait()
        assert not a.pending and b.pending
        tv.flush_all().wait()
        assert not b.pending
    assert not (x + 1.0).pending


def test_budgets_of_pending_calls(on_host):
    try:
        tv.set_lazy_options(max_pending_nodes=10)
        with tv.lazy():
            made = tv.value(DATA)
            for _ in range(11):
                made = made + 1.0
            np.testing.assert_array_equal(made.numpy(), DATA + 11)
        assert tv.lazy_stats().misses >= 1
    finally:
        tv.set_lazy_options()
    with pytest.raises(timcl.ArgumentError):
        tv.set_lazy_options(max_plans=-1)


# ---- capture() ----------------------------------------------------------------


def test_captured_functions_are_called_once_for_each_kind():
    calls = []

    @tv.capture
    def scaled(x, w, *, twice=False):
        """Of the test."""
        calls.append(x.symbolic)
        y = tv.relu(x @ w)
        return y * 2.0 if twice else y

    w = tv.constant(np.ones((3, 2), np.float32))
    for data in (DATA, DATA + 1):
        made = scaled(tv.value(data), w)
        np.testing.assert_allclose(made.numpy(), relu(data @ np.ones((3, 2))))
    assert calls == [True]
    assert scaled.__name__ == "scaled" and scaled.__doc__ == "Of the test."
    scaled(DATA[:1], w)
    scaled(DATA, w, twice=True)
    assert len(calls) == 3
    with pytest.raises(timcl.ArgumentError, match="hashable"):
        scaled(DATA, w, twice=DATA)


def test_results_have_the_form_of_the_function():
    @tv.capture
    def parts(x):
        return [x + 1.0, tv.reduce_sum(x)]

    made = parts(DATA)
    assert isinstance(made, list) and len(made) == 2
    assert made[1].item() == DATA.sum()

    @tv.capture
    def single(x):
        return (x,)

    assert isinstance(single(DATA), tuple)


def test_axes_that_are_not_known_are_taken_as_a_whole(rng, on_host):
    @tv.capture(inputs=[tv.Spec((None, 5, 4))])
    def parts(x):
        return x[:, 1:3], x[..., ::2], x[:, 0], x[:, 1, -1], x[:, None], x[:]

    for rows in (1, 3):
        x = rng.normal(size=(rows, 5, 4)).astype(np.float32)
        expected = (x[:, 1:3], x[..., ::2], x[:, 0], x[:, 1, -1], x[:, None], x)
        for made, part in zip(parts(x), expected, strict=True):
            np.testing.assert_array_equal(made.numpy(), part)
    graph = tv.Graph.capture(
        lambda x: tv.reduce_sum(tv.square(x[:, 1:3, 0])), [(None, 5, 4)]
    )
    _, gradient = tv.differentiate(graph, [0]).compile().run(x)
    expected = np.zeros_like(x)
    expected[:, 1:3, 0] = 2 * x[:, 1:3, 0]
    np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-6)
    with pytest.raises(timcl.ArgumentError, match="axis 0.*not known"):
        tv.Graph.capture(lambda x: x[1:], [(None, 3)])


def test_open_shapes_are_captured_once():
    calls = []

    @tv.capture(open_shapes=True, many_shapes=True)
    def total(x):
        calls.append(x.shape)
        return tv.reduce_sum(tv.relu(x), -1)

    for rows in (1, 2, 5):
        data = np.arange(3 * rows, dtype=np.float32).reshape(rows, 3) - 4
        np.testing.assert_array_equal(total(data).numpy(), relu(data).sum(-1))
    assert calls == [(None, None)]
    assert total.graph(tv.Spec((None, None))).level == 0
    assert total.program(tv.Spec((None, None))).stats.plans == 3


def test_bounded_extents():
    @tv.capture(inputs=[tv.Spec((tv.AtMost(4), 3))])
    def doubled(x):
        return x * 2.0

    for rows in (1, 4, 2):
        data = np.ones((rows, 3), np.float32)
        np.testing.assert_array_equal(doubled(data).numpy(), 2 * data)
    with pytest.raises(timcl.RunError, match="bound 4"):
        doubled(np.ones((5, 3), np.float32))
    assert doubled.graph().input_specs == [tv.Spec((tv.AtMost(4), 3))]
    with pytest.raises(timcl.ArgumentError, match="1 inputs"):
        doubled(DATA, DATA)


def test_captured_functions_call_one_another():
    @tv.capture
    def block(x):
        return tv.relu(x) + 1.0

    @tv.capture
    def network(x):
        return block(block(x))

    np.testing.assert_array_equal(network(DATA).numpy(), relu(DATA) + 2)
    dump = network.graph(DATA).dump()
    assert "block#0" in dump and "block#1" in dump and "outer" not in dump
    with tv.lazy():
        made = block(tv.value(DATA))
        assert made.pending
    np.testing.assert_array_equal(made.numpy(), relu(DATA) + 1)


def test_a_function_must_not_look_at_data():
    for look in (bool, float, np.asarray, lambda x: x.item(), lambda x: x.wait()):
        with pytest.raises(timcl.GraphError, match="must not look at data"):
            tv.Graph.capture(look, [()])


def test_what_a_function_raises_comes_out():
    class Mine(Exception):
        pass

    def fails(*inputs):
        raise Mine("here")

    x = tv.value(DATA)
    for call in (
        lambda: tv.capture(fails)(x),
        lambda: tv.grad(fails)(x),
        lambda: tv.if_(1.0, [x], fails, fails),
        lambda: tv.while_([x], lambda a: True, fails),
    ):
        with pytest.raises(Mine, match="here"):
            call()
    # The next call is none the wiser.
    np.testing.assert_array_equal((x + 1.0).numpy(), DATA + 1)
    with pytest.raises(timcl.ArgumentError, match="returned None"):
        tv.capture(lambda a: None)(x)


# ---- Graphs and programs ------------------------------------------------------


def test_graphs_without_shapes_are_specialized():
    def mlp(x, w):
        return tv.softmax(tv.relu(x @ w))

    graph = tv.Graph.capture(mlp, [None, None])
    assert graph.level == 0 and graph.input_specs == [tv.Spec(), tv.Spec()]
    known = graph.specialize((2, 3), (3, 4))
    assert known.level == 2 and known.output_specs == [tv.Spec((2, 4))]
    assert "Softmax" in known.dump()
    assert "[2, 4]" in repr(known)
    assert known.estimate_compute().flops >= 2 * 2 * 3 * 4
    assert known.estimate_memory().outputs > 0
    assert known.predict_microseconds() > 0
    assert {each.op for each in known.report()} >= {"Softmax"}
    with pytest.raises(timcl.GraphError, match="2 inputs"):
        graph.specialize((2, 3))
    with pytest.raises(timcl.GraphError):
        graph.specialize((2, 3), (5, 4))


def test_graphs_step_by_step_are_the_same():
    graph = tv.Graph()
    x = graph.input((2, 3))
    graph.output(tv.relu(x) + 1.0)
    captured = tv.Graph.capture(lambda x: tv.relu(x) + 1.0, [(2, 3)])
    assert graph.dump().splitlines()[1:] == captured.dump().splitlines()[1:]
    np.testing.assert_array_equal(graph(DATA).numpy(), relu(DATA) + 1)


def test_programs_keep_plans_and_are_saved(tmp_path):
    graph = tv.Graph.capture(lambda x: tv.relu(x) + 1.0, [tv.Spec((None, 3))])
    program = graph.compile(max_plans=2)
    program.prepare((2, 3))
    assert program.stats.plans == 1
    np.testing.assert_array_equal(program.run(DATA).numpy(), relu(DATA) + 1)
    assert program.stats.misses <= 1
    for rows in (3, 4, 5):
        program.run(np.ones((rows, 3), np.float32)).wait()
    assert program.stats.plans == 2 and program.stats.evictions >= 1
    assert program.explain()
    profile = program.profile([DATA], runs=2)
    assert profile and all(each.measured_us >= 0 for each in profile)
    path = tmp_path / "program.timcl"
    program.save(path)
    loaded = tv.Program.load(path)
    np.testing.assert_array_equal(loaded.run(DATA).numpy(), relu(DATA) + 1)
    with pytest.raises(timcl.ModelError):
        tv.Program.load(tmp_path / "none")
    with pytest.raises(timcl.RunError, match="input"):
        program.run(DATA, DATA)
    with pytest.raises(timcl.CompileError):
        graph.compile(max_plans=0)


def test_runs_return_at_once_and_feed_one_another():
    gate = threading.Event()

    def slow(array):
        gate.wait(30)
        return array + 1

    def step(x):
        return tv.holder("acme.Slow", [x - 1.0], [(2, 3)], slow) + 1.0

    program = tv.Graph.capture(step, [(2, 3)]).compile()
    gate.set()
    program.run(program.run(DATA)).wait()
    gate.clear()
    first = program.run(DATA)
    second = program.run(first)
    assert not first.ready and not second.ready
    gate.set()
    np.testing.assert_array_equal(second.numpy(), DATA + 2)
    np.testing.assert_array_equal(first.numpy(), DATA + 1)


AT_THE_END = """
import time
import numpy as np
from timcl import values as tv

def slow(array):
    time.sleep(0.2)
    return array

step = tv.capture(lambda x: tv.holder("acme.Slow", [x], [(3,)], slow) + 1.0)
x = tv.value(np.ones(3, np.float32))
step(x).wait()
running = step(step(x))
running.event.then(lambda text: None)
with tv.lazy():
    pending = x + 1.0
tape = tv.Tape()
tape.__enter__()
left = tv.share(np.ones(3, np.float32)) + x
"""


def test_the_interpreter_ends_while_work_is_in_flight():
    folder = pathlib.Path(timcl.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END],
        capture_output=True,
        text=True,
        timeout=100,
        env=environment,
    )
    assert done.returncode == 0, done.stderr


def test_programs_on_many_threads():
    @tv.capture
    def function(x):
        return tv.holder("acme.Add", [x * 2.0], [(2, 3)], lambda a: a + 1) * 3.0

    failures = []

    def work(number):
        for _ in range(10):
            made = function(DATA + number).numpy()
            if not np.array_equal(made, ((DATA + number) * 2 + 1) * 3):
                failures.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []
