"""Runs on several threads, devices, profiles, logs."""

import importlib.resources
import logging
import subprocess
import sys
import threading

import numpy as np
import pytest

import timcl

X = np.float32([[1, -2, 3], [-4, 5, -6]])


def test_threads_share_a_graph(relu):
    failures = []

    def work(seed):
        generator = np.random.default_rng(seed)
        for _ in range(50):
            data = generator.normal(size=(2, 3)).astype(np.float32)
            if not np.array_equal(relu(data), np.maximum(data, 0)):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_other_threads_go_on_during_a_run():
    """A host function waits for another thread: with the lock held it never came."""
    gone_on = threading.Event()
    started = threading.Event()

    def host(x):
        started.set()
        assert gone_on.wait(20)
        return x

    op = timcl.CustomOp("Wait", "__kernel void wait() {}", host=host)
    graph = timcl.Graph("host")
    graph.output(graph.op(op, [graph.input((2, 3))]))
    graph.compile()

    def other():
        assert started.wait(20)
        gone_on.set()

    thread = threading.Thread(target=other)
    thread.start()
    np.testing.assert_array_equal(graph(X), X)
    thread.join()


def test_several_runs_in_flight(relu):
    data = [X * (i - 4) for i in range(8)]
    running = [relu.start([each]) for each in data]
    for run, each in zip(running, data):
        np.testing.assert_array_equal(run.wait()["y"], np.maximum(each, 0))
        assert run.ready()


def test_runs_that_are_dropped_end(relu):
    for _ in range(20):
        relu.start([X])
    np.testing.assert_array_equal(relu(X), np.maximum(X, 0))


def test_devices():
    devices = timcl.devices()
    assert devices[-1].id == "host"
    assert [device.number for device in devices] == list(range(len(devices)))
    for device in ("host", devices[-1], devices[-1].number):
        graph = timcl.Graph(device)
        graph.output(graph.op("Relu", [graph.input((2, 3))]))
        np.testing.assert_array_equal(graph(X), np.maximum(X, 0))


@pytest.mark.parametrize("device", ["opencl:99", 99, "tpu", -1, 1.5])
def test_devices_that_are_none(device, monkeypatch):
    # The library has read it; this is for the package alone.
    monkeypatch.delenv("TIMCL_DEVICE", raising=False)
    with pytest.raises(timcl.ArgumentError):
        timcl.Graph(device)


def test_profiles(relu):
    profile = relu.profile({"x": X}, runs=2)
    assert profile.runs == 2 and profile.microseconds > 0
    assert any(operation.type == "Relu" for operation in profile.operations)
    assert abs(sum(operation.share for operation in profile.operations) - 1) < 1e-6
    assert "Relu" in str(profile)
    with pytest.raises(timcl.ArgumentError):
        relu.profile(runs=0)


def test_dump(relu, tmp_path):
    relu.dump(tmp_path / "dump")
    assert list((tmp_path / "dump").iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(timcl.RunError):
        relu.dump(tmp_path / "file")


def test_version():
    assert timcl.version == timcl.__version__
    assert len(timcl.version.split(".")) == 3


def test_messages_go_to_logging(caplog):
    caplog.set_level(logging.DEBUG, "timcl")
    graph = timcl.Graph()
    x = graph.input((2, 3))
    with pytest.raises(timcl.GraphError) as caught:
        graph.op("Softmax", [x], axis=5, beta=1.0)
    texts = [record.getMessage() for record in caplog.records]
    assert any(str(caught.value) in text for text in texts)
    # It is an exception already: no second message on the terminal.
    assert all(record.levelno == logging.DEBUG for record in caplog.records)


def test_messages_of_a_process_that_ends():
    """Threads of the library, and handlers that raise, do not hang its end."""
    program = """
import logging, timcl
class Raises(logging.Handler):
    def emit(self, record):
        raise ValueError("in a handler")
logging.getLogger("timcl").addHandler(Raises())
logging.getLogger("timcl").setLevel(logging.DEBUG)
graph = timcl.Graph()
x = graph.input((2, 3))
try:
    graph.op("Softmax", [x], axis=5, beta=1.0)
except timcl.GraphError:
    print("raised")
op = timcl.CustomOp("Same", "__kernel void same() {}", host=lambda x: x)
late = timcl.Graph("host")
late.output(late.op(op, [late.input((2,))]))
run = late.start([[1.0, 2.0]])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "raised"


def test_daemon_threads_do_not_end_the_process():
    program = """
import threading, time, numpy, timcl
from timcl import values as tv
x = numpy.ones(2, numpy.float32)
graph = timcl.Graph("host")
graph.output(graph.op("Relu", [graph.input((2,))]))
graph(x)
held = tv.capture(lambda x: tv.holder("a.Same", [x], [(2,)], lambda x: x + 0))
held(x).wait()
def work():
    while True:
        graph(x)
        held(x).wait()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_a_failed_compile_is_final():
    graph = timcl.Graph("host")
    op = timcl.CustomOp("NoHost", "__kernel void none() {}")
    graph.output(graph.op(op, [graph.input((2,))]))
    for _ in range(2):
        with pytest.raises(timcl.CompileError):
            graph.compile()


def test_types_are_shipped():
    files = {file.name for file in importlib.resources.files("timcl").iterdir()}
    assert {"py.typed", "_core.pyi"} <= files


def test_graphs_are_built_on_several_threads():
    """Nobody should, and nothing breaks."""
    graph = timcl.Graph()
    x = graph.input((2, 3))

    def work():
        for _ in range(50):
            graph.op("Relu", [graph.op("Neg", [x])])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    graph.output(graph.op("Relu", [x]))
    np.testing.assert_array_equal(graph(X), np.maximum(X, 0))
