"""Values: arrays in and out, operators, devices, errors. Rows of operators run on the
host, where kernels are not built."""

import gc
import re
import threading
import weakref

import numpy as np
import pytest
import timcl
from timcl import values as tv

from .conftest import ROOT, Foreign

DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_the_first_value():
    x = tv.value([[0.5, -2, 3], [4, 5, -6]])
    b = tv.value([-1.0, 0, 1])
    assert tv.relu(x + b).numpy().ravel().tolist() == [0, 0, 4, 3, 5, 0]


@pytest.mark.parametrize(
    "data, dtype",
    [
        ([1.5, 2], "float32"),
        ([1, 2], "int32"),
        ([1, 1 << 40], "int64"),
        ([True, False], "bool"),
        (2.5, "float32"),
        (np.float64([1, 2]), "float32"),
        (np.arange(3), "int64"),
        (np.float16([1, 2]), "float16"),
        (np.uint64([1, 2]), "uint64"),
    ],
)
def test_types_of_arrays_and_numbers(data, dtype):
    made = tv.value(data)
    assert made.dtype == dtype and made.shape == np.shape(data)
    back = made.numpy()
    assert back.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(back, np.asarray(data))


@pytest.mark.parametrize(
    "name",
    ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool",
     "float16", "float32", "float64"],
)  # fmt: skip
def test_bytes_come_back(name, rng):
    size = 15 * np.dtype(name).itemsize
    bits = rng.integers(0, 2 if name == "bool" else 256, size).astype(np.uint8)
    data = bits.view(name).reshape(3, 5)
    for made in (tv.value(data, name), tv.constant(data, name), tv.share(data, name)):
        assert made.dtype == name
        assert made.numpy().tobytes() == data.tobytes()
        for device in tv.devices():
            assert made.to(device).numpy().tobytes() == data.tobytes()


def test_packed_types_and_bfloat16():
    data = np.uint8([[0x21, 0x03], [0x54, 0x06]])
    x = tv.value(data, "uint4", shape=(2, 3))
    assert x.shape == (2, 3) and x.dtype == "uint4"
    np.testing.assert_array_equal(x.numpy(), data)
    assert tv.value(data, "int4").shape == (2, 4)
    y = tv.value([1.0, -2.5, 3.14159], "bfloat16")
    assert y.numpy().tolist() == [0x3F80, 0xC020, 0x4049]
    assert tv.value(np.uint16([0x3F80]), "bfloat16").item() == 1.0
    for made in (x, y):
        with pytest.raises(BufferError):
            made.__dlpack__()


def test_what_is_copied():
    data = DATA.copy()
    copied, shared = tv.value(data), tv.share(data)
    data[0, 0, 0] = 99
    assert copied[0, 0, 0].item() == 0 and shared[0, 0, 0].item() == 99
    x = tv.value(DATA)
    read = np.asarray(x)
    assert not read.flags.writeable and x.numpy().flags.writeable
    with pytest.raises(ValueError):
        np.asarray(x, np.float64, copy=False)
    out = np.empty_like(DATA)
    assert x.numpy(out=out) is out
    np.testing.assert_array_equal(out, DATA)
    turned = np.asfortranarray(DATA)
    np.testing.assert_array_equal(tv.value(turned).numpy(), DATA)
    with pytest.raises(timcl.ArgumentError, match="one piece"):
        tv.share(turned)


def test_shared_memory_is_kept_as_long_as_the_value():
    class Kept(np.ndarray):
        pass

    data = np.ones(3, np.float32).view(Kept)
    gone = weakref.ref(data)
    x = tv.share(data)
    del data
    gc.collect()
    assert gone() is not None
    assert (x + 1.0).numpy().tolist() == [2, 2, 2]
    del x
    gc.collect()
    assert gone() is None


def test_dlpack():
    x = tv.value(DATA)
    back = np.from_dlpack(x)
    np.testing.assert_array_equal(back, DATA)
    data = DATA.copy()
    shared = tv.from_dlpack(Foreign(data))
    np.testing.assert_array_equal((shared * 2.0).numpy(), 2 * DATA)
    np.testing.assert_array_equal(tv.from_dlpack(Foreign(data.T)).numpy(), DATA.T)
    np.testing.assert_array_equal((x + Foreign(data)).numpy(), 2 * DATA)
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(timcl.ArgumentError, match="__dlpack__"):
        tv.from_dlpack([1, 2])


def test_numbers_take_the_type_of_the_other_operand(on_host):
    for name in ("float16", "float32", "int32"):
        x = tv.value([1, 2, 3], name)
        for made in (x + 1, 1 + x, x * np.ones(3, name)):
            assert made.dtype == name
    ints = tv.value([1, 2, 3])
    with pytest.raises(timcl.ArgumentError, match="float64, expected int32"):
        ints + 1.5
    codes = tv.value(
        np.uint8([1, 2]), quantization=timcl.Quantization(scale=0.5, zero_point=1)
    )
    with pytest.raises(timcl.ArgumentError, match="quantized"):
        codes + 1
    with pytest.raises(timcl.ArgumentError, match="not known"):
        tv.Graph().input(tv.Spec(None, None)) * 2


x, y = DATA, DATA[::-1] + 1

ROWS = {
    "add": (lambda a, b: a + b, lambda a, b: a + b),
    "sub": (lambda a, b: a - b, lambda a, b: a - b),
    "rsub": (lambda a, b: DATA - b, lambda a, b: DATA - b),
    "mul": (lambda a, b: a * b, lambda a, b: a * b),
    "div": (lambda a, b: a / b, lambda a, b: a / b),
    "rdiv": (lambda a, b: 2 / b, lambda a, b: 2 / b),
    "floordiv": (lambda a, b: a // 5, lambda a, b: a // 5),
    "mod": (lambda a, b: a % 5, lambda a, b: a % 5),
    "mod of signs": (lambda a, b: (a - 7.5) % -b, lambda a, b: (a - 7.5) % -b),
    "rmod of signs": (lambda a, b: -5 % (b - 7.5), lambda a, b: -5 % (b - 7.5)),
    "mod by name": (lambda a, b: tv.mod(7.5 - a, 2), lambda a, b: (7.5 - a) % 2),
    "mod of integers": (
        lambda a, b: (a - 9).astype("int32") % -3,
        lambda a, b: (a - 9).astype("int32") % -3,
    ),
    "pow": (lambda a, b: a**2, lambda a, b: a**2),
    "neg": (lambda a, b: -a, lambda a, b: -a),
    "abs": (lambda a, b: abs(a - 9), lambda a, b: abs(a - 9)),
    "less": (lambda a, b: a < b, lambda a, b: a < b),
    "logic": (lambda a, b: (a > 3) & ~(b < 9), lambda a, b: (a > 3) & ~(b < 9)),
    "select": (
        lambda a, b: tv.select(a > 3, b, 0),
        lambda a, b: np.where(a > 3, b, np.float32(0)),
    ),
    "matmul": (
        lambda a, b: a @ tv.transpose(b, (0, 2, 1)),
        lambda a, b: a @ b.transpose(0, 2, 1),
    ),
    "sum": (lambda a, b: tv.reduce_sum(a, 0), lambda a, b: a.sum(0)),
    "sum of two": (
        lambda a, b: tv.reduce_sum(a, (0, -1), keep_dims=True),
        lambda a, b: a.sum((0, -1), keepdims=True),
    ),
    "mean of all": (lambda a, b: tv.reduce_mean(a), lambda a, b: a.mean()),
    "mean of one": (lambda a, b: tv.reduce_mean(a[0, 1, 2]), lambda a, b: a[0, 1, 2]),
    "sum of none": (lambda a, b: tv.reduce_sum(a, ()), lambda a, b: a.sum(())),
    "max": (lambda a, b: tv.reduce_max(a, 1), lambda a, b: a.max(1)),
    "argmax": (lambda a, b: tv.arg_max(b, 0), lambda a, b: b.argmax(0)),
    "cumsum": (lambda a, b: tv.cum_sum(a, 0), lambda a, b: a.cumsum(0)),
    "transpose": (lambda a, b: tv.transpose(a), lambda a, b: a.T),
    "transpose by": (
        lambda a, b: tv.transpose(a, (2, 0, -2)),
        lambda a, b: a.transpose(2, 0, 1),
    ),
    "transpose of one": (
        lambda a, b: tv.transpose(a[0, 0, 0]),
        lambda a, b: a[0, 0, 0],
    ),
    "reshape to rank 0": (
        lambda a, b: tv.reshape(a[:1, 0, :1], ()) + b[0, :1, 0].reshape(()),
        lambda a, b: a[0, 0, 0] + b[0, 0, 0],
    ),
    "reshape": (lambda a, b: a.reshape(4, -1), lambda a, b: a.reshape(4, -1)),
    "squeeze": (lambda a, b: tv.squeeze(a[:, :1], 1), lambda a, b: a[:, 0]),
    "reverse": (lambda a, b: tv.reverse(a, 1), lambda a, b: a[:, ::-1]),
    "concat": (lambda a, b: tv.concat([a, b], 1), lambda a, b: np.hstack([a, b])),
    "stack": (lambda a, b: tv.stack([a, b], 1), lambda a, b: np.stack([a, b], 1)),
    "stack last": (
        lambda a, b: tv.stack([a, b], -1),
        lambda a, b: np.stack([a, b], -1),
    ),
    "split": (lambda a, b: tv.split(a, [1, 2], 1)[1], lambda a, b: a[:, 1:]),
    "unstack": (lambda a, b: tv.unstack(a, 3, 1)[1], lambda a, b: a[:, 1]),
    "slice": (
        lambda a, b: tv.slice(a, (0, 1, 2), (2, 1, 2)),
        lambda a, b: a[0:2, 1:2, 2:4],
    ),
    "pad": (
        lambda a, b: tv.pad(a, (0, 1, 2), (1, 0, 0)),
        lambda a, b: np.pad(a, ((0, 1), (1, 0), (2, 0))),
    ),
    "tile": (lambda a, b: tv.tile(a, (1, 2, 3)), lambda a, b: np.tile(a, (1, 2, 3))),
    "broadcast": (
        lambda a, b: tv.broadcast(a[:1], (5, 3, 4)),
        lambda a, b: np.broadcast_to(a[:1], (5, 3, 4)),
    ),
    "gather": (lambda a, b: tv.gather(a, [2, 0], 1), lambda a, b: a[:, [2, 0]]),
    "one hot": (lambda a, b: tv.one_hot([1, 0], 3), lambda a, b: np.eye(3)[[1, 0]]),
    "one hot first": (
        lambda a, b: tv.one_hot([1, 0], 3, axis=0),
        lambda a, b: np.eye(3)[[1, 0]].T,
    ),
    "layer norm": (
        lambda a, b: tv.layer_normalization(
            a, np.zeros(4, np.float32), np.ones(4, np.float32)
        ),
        lambda a, b: (
            (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)
        ),
    ),
    "fully connected": (
        lambda a, b: tv.fully_connected(a, np.ones((5, 12), np.float32), axis=1),
        lambda a, b: a.reshape(2, 12) @ np.ones((12, 5)),
    ),
    "astype": (lambda a, b: a.astype(np.int32), lambda a, b: a.astype(np.int32)),
    "one slice": (lambda a, b: a[1], lambda a, b: a[1]),
    "steps": (lambda a, b: a[:, 1:, ::2], lambda a, b: a[:, 1:, ::2]),
    "one element": (lambda a, b: a[1, -1, 3], lambda a, b: a[1, -1, 3]),
    "new axis": (lambda a, b: a[..., None, -1], lambda a, b: a[..., None, -1]),
}


@pytest.mark.parametrize("name", ROWS)
def test_operators_are_numpys(name, on_host):
    ours, numpys = ROWS[name]
    made = ours(tv.value(x), tv.value(y)).numpy()
    expected = np.asarray(numpys(x, y))
    assert made.shape == expected.shape
    if expected.dtype == bool:
        assert made.dtype == bool
    np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6)


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_axes_count_from_the_slowest(axis, rng, on_host):
    data = rng.normal(size=(2, 5, 3)).astype(np.float32)
    made = tv.softmax(data, axis)
    np.testing.assert_allclose(made.numpy(), softmax(data, axis), rtol=1e-5)
    made = tv.log_softmax(data, axis)
    np.testing.assert_allclose(
        made.numpy(), np.log(softmax(data, axis)), rtol=1e-4, atol=1e-5
    )


def test_windows_are_vertical_then_horizontal(rng):
    data = rng.normal(size=(1, 1, 5, 7)).astype(np.float32)
    kernel = np.ones((1, 1, 3, 1), np.float32)
    made = tv.conv2d(data, kernel, stride=(2, 1), pad=((1, 0), (0, 2)))
    padded = np.pad(data, ((0, 0), (0, 0), (1, 0), (0, 2)))
    expected = sum(padded[:, :, i : i + 4 : 2] for i in range(3))
    assert made.shape == expected.shape
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-5)
    pooled = tv.max_pool2d(data, ksize=(5, 1), stride=(5, 1))
    np.testing.assert_array_equal(pooled.numpy(), data.max(2, keepdims=True))


def test_call_has_the_attributes_of_the_header(rng, on_host):
    data = rng.normal(size=(2, 5)).astype(np.float32)
    made = tv.call("Softmax", [data], axis=1, beta=1)
    np.testing.assert_allclose(made.numpy(), softmax(data, 0), rtol=1e-5)
    left, right = tv.call("Split", data, axis=0, slices=[2, 3])
    np.testing.assert_array_equal(right.numpy(), data[:, 2:])
    codes = tv.call(
        "DataConvert", data, output_type="uint8", output_scale=0.05,
        output_zero_point=128,
    )  # fmt: skip
    assert codes.dtype == "uint8"
    assert codes.quantization == timcl.Quantization(0.05, 128)


def test_every_function_of_the_header_is_here():
    text = (ROOT / "include/tim/values/ops.h").read_text()
    names = re.findall(r"^inline \w+ (\w+)\((?!const Value& a, const Value& b\) \{ r)",
                       text, re.M)  # fmt: skip
    made = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() for name in names}
    assert len(made) >= 80
    missing = {name for name in made if not hasattr(tv, name)}
    assert missing == set()


def test_every_name_is_told():
    assert sorted(tv.__all__) == sorted(
        name for name in vars(tv) if not name.startswith("_")
    )


def test_node_is_an_operator_as_an_object():
    node = tv.Node("Matmul")
    assert node.op == "tim.Matmul"
    a, b = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    np.testing.assert_array_equal(node(a, b).numpy(), a @ b)
    np.testing.assert_array_equal(node.eval(a, b), a @ b)
    assert node.infer_outputs((2, 3), (3, 4))[0].shape == (2, 4)
    assert node.infer_outputs((None, 3), (3, 4))[0].shape == (None, 4)
    assert node.estimate_compute((2, 3), (3, 4)).flops == 2 * 2 * 3 * 4
    assert node.estimate_memory((2, 3), (3, 4)).inputs == 4 * (6 + 12)
    assert node.predict_microseconds((2, 3), (3, 4)) > 0
    with pytest.raises(timcl.GraphError, match="input"):
        node.estimate_compute((None, 3), (3, 4))


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda x: tv.call("Reluu", [x]), timcl.GraphError, "tim.Reluu.*no operator"),
        (lambda x: tv.call("Softmax", [x], ax=1), timcl.GraphError, "'ax'.*beta, axis"),
        (lambda x: tv.call("Softmax", [x], axis=[{}]), timcl.ArgumentError, "'axis'"),
        (lambda x: tv.softmax(x, 5), timcl.GraphError, "axis -6"),
        (lambda x: x + np.ones(3, np.float32), timcl.GraphError, "do not broadcast"),
        (lambda x: x.reshape(5, 5), timcl.GraphError, "24 elements"),
        (lambda x: x["a"], timcl.ArgumentError, "no index"),
        (lambda x: x[5], IndexError, "axis 0"),
        (lambda x: x[::-1], timcl.ArgumentError, "positive step"),
        (lambda x: x + "a", TypeError, "unsupported"),
        (lambda x: tv.relu(None), timcl.GraphError, "no value"),
        (lambda x: tv.relu("a"), timcl.ArgumentError, "no operand"),
        (lambda x: tv.value([]), timcl.ArgumentError, "0 for an extent"),
        (lambda x: tv.value([[1], [1, 2]]), timcl.ArgumentError, "no array"),
        (lambda x: tv.value(np.zeros(2, "c8")), timcl.ArgumentError, "c.*float64"),
        (lambda x: tv.value([1.5], "int32"), timcl.ArgumentError, "astype"),
        (lambda x: tv.Spec((0, 3)), timcl.ArgumentError, "at least 1"),
        (lambda x: tv.AtMost(0), timcl.ArgumentError, "at least 1"),
        (lambda x: tv.Device("opencl:99"), timcl.ArgumentError, "host"),
        (lambda x: tv.Device(7), timcl.ArgumentError, "no device"),
        (lambda x: tv.conv2d(x, x, pad=(1, 2, 3)), timcl.ArgumentError, "pad"),
        (lambda x: tv.reduce_sum(x, 1.5), timcl.ArgumentError, "axis is 1.5"),
        (lambda x: tv.reduce_sum(x, 2**70), timcl.ArgumentError, "more than 64 bits"),
        (lambda x: tv.call("Softmax", [x], axis=2**70, beta=1.0), timcl.ArgumentError,
         "more than 64 bits"),
        (lambda x: tv.unstack(x, 0), timcl.ArgumentError, "count is 0"),
        (lambda x: tv.transpose(x, ()), timcl.GraphError, "0 axes"),
        (lambda x: tv.transpose(x, (0, 1, 5)), timcl.ArgumentError, "rank 3"),
        (lambda x: float(x), timcl.ArgumentError, "one number"),
        (lambda x: hash(x), TypeError, "unhashable"),
        (lambda x: x.numpy(out=np.zeros(3)), timcl.ArgumentError, "out"),
    ],
)
def test_errors_are_raised_where_they_are_made(call, error, text):
    with pytest.raises(error, match=text):
        call(tv.value(DATA))


def test_devices():
    found = tv.devices()
    assert found[-1].id == "host" and all(each.name for each in found)
    on_host = tv.value(DATA, device="host")
    assert on_host.device == tv.Device("host")
    there = on_host.to(found[0])
    assert there.device == found[0]
    with tv.eager(found[0]):
        made = tv.value(DATA) + 1.0
    assert made.device == found[0]
    memory = found[0].memory()
    assert 0 <= memory.in_use <= memory.reserved
    del there, made
    gc.collect()
    assert found[0].trim() >= 0


def test_numbers_of_values():
    assert float(tv.value(2.5)) == 2.5 and int(tv.value([3])) == 3
    assert bool(tv.value([1.0])) and not bool(tv.value(0))
    assert [0, 1, 2][tv.value(1)] == 1
    three = tv.value([1.0, 2, 3])
    assert len(three) == 3 and [each.item() for each in three] == [1, 2, 3]
    assert three.tolist() == [1, 2, 3] and three.size == 3 and three.ndim == 1
    assert str(three) == "[1. 2. 3.]"
    assert repr(three) == "<timcl.values.Value float32 [3]>"


def test_events():
    called = threading.Event()
    texts = []
    made = tv.value(DATA) * 2.0
    made.event.then(lambda text: (texts.append(text), called.set()))
    assert called.wait(60) and texts == [None]
    made.event.wait()
    assert made.wait() is made and made.ready and made.event.ready


def test_threads_have_their_own_calls():
    failures = []

    def work(number):
        data = np.full(64, number, np.float32)
        for _ in range(20):
            made = tv.relu(tv.value(data) * 2.0) + 1.0
            if not (made.numpy() == 2 * number + 1).all():
                failures.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []


def test_memory_comes_back():
    device = tv.Device()
    data = tv.value(np.ones(1 << 16, np.float32))
    (data + 1.0).wait()
    gc.collect()
    before = device.memory().in_use
    for _ in range(50):
        (data + 1.0).wait()
    gc.collect()
    assert device.memory().in_use <= before
