"""uint8 with one scale and zero point per tensor, as TIM-VX's clients do."""

import torch

import ssd

SCORE_SCALE = 1.0 / 256  # of what the sigmoid makes
INPUT_SCALE = 1.0 / 255


class Range:
    """The values that codes 0 .. 255 stand for; 0 is one of them, exactly."""

    def __init__(self, low, high):
        low, high = min(0.0, float(low)), max(0.0, float(high))
        self.scale = max((high - low) / 255, 1e-8)
        self.zero_point = round(-low / self.scale)

    def codes(self, x):
        return (torch.round(x / self.scale) + self.zero_point).clamp(0, 255)

    def __call__(self, x):
        """The values of x as codes can say them."""
        return (self.codes(x) - self.zero_point) * self.scale


def shared_name(name):
    """Heads of one kind are concatenated and share their codes."""
    return name[:-1] if name.startswith(("box", "class")) else name


def calibrate(params, images):
    """name -> Range of every convolution's result over the images.

    A few values in ten thousand may be cut off on either side.
    """
    seen = {}

    def observe(name, x):
        flat = x.flatten()[::7].sort().values
        cut = int(len(flat) * 1e-4)
        low, high = flat[cut], flat[len(flat) - 1 - cut]
        old = seen.get(shared_name(name), (low, high))
        seen[shared_name(name)] = (min(low, old[0]), max(high, old[1]))
        return x

    with torch.no_grad():
        ssd.forward(ssd.folded_conv(params), images, observe)
    return {name: Range(*bounds) for name, bounds in seen.items()}


def weight_range(weight):
    return Range(weight.min(), weight.max())


def quantized_forward(params, ranges, x):
    """As the uint8 graph computes, up to the rounding of biases."""
    rounded = {
        name: (weight_range(weight)(weight), bias)
        for name, (weight, bias) in params.items()
    }
    return ssd.forward(
        ssd.folded_conv(rounded),
        x,
        lambda name, x: ranges[shared_name(name)](x),
    )


def quantized_scores(logits):
    return Range(0, 255 * SCORE_SCALE)(torch.sigmoid(logits))
