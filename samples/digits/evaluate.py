"""The network in plain NumPy: what the demo has to compute, without TIM-CL.

`python3 evaluate.py` reads data/ and prints the accuracy of both variants over
the held-out digits. The uint8 variant is computed with exact integers.
"""

import pathlib

import numpy as np

import tensor_file

DATA = pathlib.Path(__file__).resolve().parent / "data"
# The layers with weights, and what follows each of them.
LAYERS = (
    ("conv1", ("relu",)),
    ("conv2", ("relu", "max_pool")),
    ("fc1", ("relu",)),
    ("fc2", ()),
)


def patches(x):
    """The 3x3 neighbourhoods of a zero-padded [N,C,H,W]: [N,H,W,C*9]."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    n, _, h, w = x.shape
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, -1)


def linear(x, weight):
    """A 3x3 SAME convolution or a fully connected layer, without bias."""
    rows = weight.reshape(weight.shape[0], -1).T
    if weight.ndim == 4:
        return (patches(x) @ rows).transpose(0, 3, 1, 2)
    return x.reshape(len(x), -1) @ rows


def max_pool(x):
    """2x2, stride 2."""
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))


def per_channel(bias, like):
    return bias.reshape((1, -1) + (1,) * (like.ndim - 2))


def run_float(model, pixels, observe=lambda name, x: None):
    """Logits [N,10]. observe() sees the value after each layer's relu."""
    x = pixels.astype(np.float32) * model["input"].scale
    for name, then in LAYERS:
        x = linear(x, model[name + ".weight"].array)
        x = x + per_channel(model[name + ".bias"].array, x)
        x = np.maximum(x, 0) if "relu" in then else x
        observe(name, x)
        x = max_pool(x) if "max_pool" in then else x
    return x


def requantize(acc, scale_in, scale_weight, out):
    """clamp(rint(acc * s_in * s_w / s_out + zp)), in float32 steps."""
    m = np.float32(np.float64(scale_in) * np.float64(scale_weight) / out.scale)
    real = acc.astype(np.float32) * m + np.float32(out.zero_point)
    return np.clip(np.rint(real), 0, 255).astype(np.int64)


def run_quantized(model, pixels):
    """Logits [N,10], from uint8 codes and exact integer sums."""
    q, current = pixels.astype(np.int64), model["input"]
    for name, then in LAYERS:
        weight, out = model[name + ".weight"], model[name]
        acc = linear(
            q - current.zero_point,
            weight.array.astype(np.int64) - weight.zero_point,
        )
        acc = acc + per_channel(model[name + ".bias"].array, acc)
        assert np.abs(acc).max() < 2**31
        q = requantize(acc, current.scale, weight.scale, out)
        q = np.maximum(q, out.zero_point) if "relu" in then else q
        q = max_pool(q) if "max_pool" in then else q
        current = out
    return (q - current.zero_point) * current.scale


def correct(logits, labels):
    return int((logits.argmax(axis=1) == labels).sum())


def evaluate():
    """Prints and returns the correct counts: (float32, uint8, digits)."""
    heldout = tensor_file.load(DATA / "heldout.bin")
    pixels, labels = heldout["images"].array, heldout["labels"].array
    counts = []
    for name, run in (("f32", run_float), ("u8", run_quantized)):
        model = tensor_file.load(DATA / ("lenet_%s.bin" % name))
        n = correct(run(model, pixels), labels)
        counts.append(n)
        percent = 100.0 * n / len(labels)
        print("%-3s %d of %d, %.2f %%" % (name, n, len(labels), percent))
    return (*counts, len(labels))


if __name__ == "__main__":
    evaluate()
