"""Gradients, tapes and patterns."""

import importlib.util

import numpy as np
import pytest
import timcl
from timcl import values as tv

from .conftest import DIGITS, ROOT

DATA = np.float32([[1, -2, 3], [-4, 5, -6]])


def loss(w, x, *, scale=1.0):
    return tv.reduce_mean(tv.square(tv.tanh(x @ w) * scale))


def reference(w, x, scale=1.0):
    t = np.tanh(x @ w)
    return x.T @ (2 * scale**2 * t * (1 - t**2)) / t.size


def test_gradients_in_every_mode(rng):
    w = rng.normal(size=(3, 2)).astype(np.float32) / 4
    expected = reference(w, DATA)
    gradient = tv.grad(loss)
    with tv.lazy():
        later = gradient(tv.value(w), tv.value(DATA))
        assert later.pending
    for made in (
        gradient(tv.value(w), DATA),
        later,
        tv.capture(gradient)(w, DATA),
        tv.grad(tv.capture(loss))(w, DATA),
    ):
        np.testing.assert_allclose(made.numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        gradient(w, DATA, scale=2.0).numpy(), reference(w, DATA, 2), rtol=1e-4
    )


def test_value_and_gradients_by_several(rng):
    w = rng.normal(size=(3, 2)).astype(np.float32) / 4
    value, (by_w, by_x) = tv.value_and_grad(loss, wrt=(0, 1))(w, DATA)
    np.testing.assert_allclose(value.item(), np.mean(np.tanh(DATA @ w) ** 2), rtol=1e-4)
    np.testing.assert_allclose(by_w.numpy(), reference(w, DATA), rtol=1e-4, atol=1e-5)
    assert by_x.shape == DATA.shape


def test_second_gradients(on_host):
    second = tv.grad(tv.grad(lambda x: x**3))
    assert second(2.0).item() == pytest.approx(12)


def test_graphs_of_gradients():
    graph = tv.Graph.capture(lambda x: tv.reduce_sum(x * x), [(2, 3)])
    both = tv.differentiate(graph)
    value, gradient = both(DATA)
    assert value.item() == (DATA * DATA).sum()
    np.testing.assert_array_equal(gradient.numpy(), 2 * DATA)
    square = tv.Graph.capture(lambda x: x * x, [(2, 3)])
    np.testing.assert_array_equal(tv.vjp(square)(DATA, DATA).numpy(), 2 * DATA**2)


def test_tapes_follow_what_was_decided():
    x = tv.value(DATA)
    with tv.Tape() as tape:
        y = x * x
        if tv.reduce_sum(y).item() > 0:
            y = y * 3.0
        total = tv.reduce_sum(y)
        np.testing.assert_array_equal(tape.gradient(total, x).numpy(), 6 * DATA)
        by_x, by_other = tape.gradient(total, (x, tv.value(1.0)))
        assert by_other.item() == 0

        @tv.capture
        def captured(a):
            return tv.reduce_sum(a * 2.0)

        np.testing.assert_array_equal(
            tape.gradient(captured(x), x).numpy(), np.full_like(DATA, 2)
        )
        cut = tv.reduce_sum(tv.stop_gradient(x) * x)
        np.testing.assert_array_equal(tape.gradient(cut, x).numpy(), DATA)
    with pytest.raises(timcl.GraphError, match="has ended"):
        tape.gradient(total, x)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: tv.grad(lambda x: x)(DATA), timcl.GraphError, "one element"),
        (lambda: tv.grad(loss, wrt=5)(DATA, DATA), timcl.ArgumentError, "argument 5"),
        (lambda: tv.grad(loss, wrt=()), timcl.ArgumentError, "no input"),
        (lambda: tv.vjp(DATA), timcl.ArgumentError, "no graph"),
        (
            lambda: tv.grad(lambda x: tv.reduce_sum(tv.max_pool2d(x)), 0)(
                np.ones((1, 1, 4, 4), np.int32)
            ),
            timcl.GraphError,
            "float",
        ),
    ],
)
def test_what_has_no_gradient(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_training_lowers_the_loss(rng):
    x = rng.normal(size=(64, 3)).astype(np.float32)
    target = x @ rng.normal(size=(3, 1)).astype(np.float32)
    w = tv.Variable(np.zeros((3, 1), np.float32), "w")

    @tv.capture
    def step(x, target):
        def distance(w):
            return tv.reduce_mean(tv.square(x @ w - target))

        value, gradient = tv.value_and_grad(distance)(w.read())
        w.assign(w.read() - gradient * 0.2)
        return value

    first = step(x, target).item()
    for _ in range(30):
        last = step(x, target)
    assert last.item() < first / 100


def test_the_sample_learns_digits(on_host):
    path = ROOT / "samples" / "train_digits" / "train_digits.py"
    spec = importlib.util.spec_from_file_location("train_digits", path)
    sample = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sample)
    losses = sample.train(DIGITS / "data" / "heldout.bin", 80)
    assert np.mean(losses[-10:]) < losses[0] / 2


# ---- Patterns -----------------------------------------------------------------


def sigmoid_times():
    x = tv.Pattern.any("x")
    return tv.Pattern.op("Multiply", [x, tv.Pattern.op("Sigmoid", [x])]).any_order()


def graph_with_swish():
    def function(a):
        y = a * tv.sigmoid(a)
        return tv.sigmoid(y) * y

    return tv.Graph.capture(function, [(2, 3)])


def test_patterns_are_replaced():
    graph = graph_with_swish()
    before = graph(DATA).numpy()
    found = graph.find_all(sigmoid_times())
    assert len(found) == 2 and "x" in found[0] and "y" not in found[0]
    assert len(found[0].nodes) == 2
    with pytest.raises(timcl.ArgumentError, match="'y'"):
        found[0]["y"]
    assert graph.replace(sigmoid_times(), lambda match: tv.swish(match["x"])) == 2
    assert graph.dump().count(" Swish ") == 2 or "Swish" in graph.dump()
    assert graph.find_all(sigmoid_times()) == []
    np.testing.assert_allclose(graph(DATA).numpy(), before, rtol=1e-5)


def test_conditions_of_patterns():
    graph = graph_with_swish()
    assert len(graph.find_all(sigmoid_times().where(lambda match: False))) == 0
    assert len(graph.find_all(sigmoid_times().where(lambda match: "x" in match))) == 2
    assert len(graph.find_all(tv.Pattern.op("Multiply").having(scale=2.0))) == 0
    x = tv.Pattern.any()
    either = tv.Pattern.one_of([tv.Pattern.op("Relu", [x]), tv.Pattern.op("Sigmoid")])
    assert len(graph.find_all(either)) == 2
    chain = tv.Graph.capture(lambda a: tv.relu(tv.relu(a)), [(2, 3)])
    assert len(chain.find_all(tv.Pattern.repeat("Relu", 1, 3, x))) == 1
    assert len(chain.find_all(tv.Pattern.optional("Relu", x))) >= 1


def test_failing_replacements_leave_the_graph(on_host):
    graph = graph_with_swish()
    before = graph.dump()

    def fails(match):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        graph.replace(sigmoid_times(), fails)
    with pytest.raises(KeyError, match="mine"):
        graph.find_all(sigmoid_times().where(fails))
    assert graph.dump() == before
    with pytest.raises(timcl.ArgumentError, match="expected a function"):
        graph.replace(sigmoid_times(), 3)
