"""Operators as functions, with the names of tim/values/ops.h.

Here everything is in NumPy's order: axis 0 is the slowest-varying one, -1 the
last, and lists of extents or axes begin with the slowest. (`call()` takes
attributes as the headers document them, which count the other way.)
"""

from __future__ import annotations

from typing import Any

from .. import _core
from ._axes import Operand, Pads, Window, axis_of, pads_of, pair_of
from ._operands import elementwise, handles, one, remainder
from ._types import library_type
from ._value import Value

# ---- Element by element -----------------------------------------------------


def relu(x: Operand) -> Value:
    """max(x, 0)."""
    return one("tim.Relu", [x])


def relu1(x: Operand) -> Value:
    """min(max(x, -1), 1)."""
    return one("tim.Relu1", [x])


def relu6(x: Operand) -> Value:
    """min(max(x, 0), 6)."""
    return one("tim.Relu6", [x])


def tanh(x: Operand) -> Value:
    return one("tim.Tanh", [x])


def sigmoid(x: Operand) -> Value:
    """1 / (1 + e^-x)."""
    return one("tim.Sigmoid", [x])


def hard_swish(x: Operand) -> Value:
    """x * min(max(x + 3, 0), 6) / 6."""
    return one("tim.HardSwish", [x])


def swish(x: Operand) -> Value:
    """x * sigmoid(x)."""
    return one("tim.Swish", [x])


def mish(x: Operand) -> Value:
    """x * tanh(ln(1 + e^x))."""
    return one("tim.Mish", [x])


def soft_relu(x: Operand) -> Value:
    """ln(1 + e^x)."""
    return one("tim.SoftRelu", [x])


def exp(x: Operand) -> Value:
    return one("tim.Exp", [x])


def log(x: Operand) -> Value:
    return one("tim.Log", [x])


def sqrt(x: Operand) -> Value:
    return one("tim.Sqrt", [x])


def rsqrt(x: Operand) -> Value:
    """x^-0.5."""
    return one("tim.Rsqrt", [x])


def square(x: Operand) -> Value:
    return one("tim.Square", [x])


def neg(x: Operand) -> Value:
    return one("tim.Neg", [x])


def abs(x: Operand) -> Value:
    return one("tim.Abs", [x])


def rcp(x: Operand) -> Value:
    """1 / x."""
    return one("tim.Rcp", [x])


def sin(x: Operand) -> Value:
    return one("tim.Sin", [x])


def cos(x: Operand) -> Value:
    return one("tim.Cos", [x])


def erf(x: Operand) -> Value:
    return one("tim.Erf", [x])


def floor(x: Operand) -> Value:
    return one("tim.Floor", [x])


def ceil(x: Operand) -> Value:
    return one("tim.Ceil", [x])


def round(x: Operand) -> Value:
    """The nearest integer, of two the even one."""
    return one("tim.Round", [x])


def sign(x: Operand) -> Value:
    return one("tim.Sign", [x])


def logical_not(x: Operand) -> Value:
    return one("tim.LogicalNot", [x])


def leaky_relu(x: Operand, alpha: float) -> Value:
    """x where x > 0, else alpha * x."""
    return one("tim.LeakyRelu", [x], alpha=float(alpha))


def elu(x: Operand, alpha: float = 1.0) -> Value:
    """x where x >= 0, else alpha * (e^x - 1)."""
    return one("tim.Elu", [x], alpha=float(alpha))


def gelu(x: Operand, approximate: bool = True) -> Value:
    """x times the normal distribution up to x; approximate: by tanh."""
    return one("tim.Gelu", [x], approximate=bool(approximate))


def clip(x: Operand, least: float, most: float) -> Value:
    """min(max(x, least), most)."""
    return one("tim.Clip", [x], min=float(least), max=float(most))


def hard_sigmoid(x: Operand, alpha: float, beta: float) -> Value:
    """min(max(alpha * x + beta, 0), 1)."""
    return one("tim.HardSigmoid", [x], alpha=float(alpha), beta=float(beta))


def linear(x: Operand, a: float, b: float = 0.0) -> Value:
    """a * x + b."""
    return one("tim.Linear", [x], a=float(a), b=float(b))


# ---- Two operands, which are broadcast; numbers take the other one's type ----


def add(a: Operand, b: Operand) -> Value:
    return elementwise("tim.Add", a, b)


def sub(a: Operand, b: Operand) -> Value:
    return elementwise("tim.Sub", a, b)


def multiply(a: Operand, b: Operand, scale: float = 1.0) -> Value:
    """a * b * scale."""
    return elementwise("tim.Multiply", a, b, scale=float(scale))


def div(a: Operand, b: Operand, scale: float = 1.0) -> Value:
    """a / b * scale."""
    return elementwise("tim.Div", a, b, scale=float(scale))


def maximum(a: Operand, b: Operand) -> Value:
    return elementwise("tim.Maximum", a, b)


def minimum(a: Operand, b: Operand) -> Value:
    return elementwise("tim.Minimum", a, b)


def pow(a: Operand, b: Operand) -> Value:
    return elementwise("tim.Pow", a, b)


def floor_div(a: Operand, b: Operand) -> Value:
    return elementwise("tim.FloorDiv", a, b)


def mod(a: Operand, b: Operand) -> Value:
    """a - b * floor(a / b), exact, of the sign of b."""
    return remainder(a, b)


def equal(a: Operand, b: Operand) -> Value:
    return elementwise("tim.Equal", a, b)


def not_equal(a: Operand, b: Operand) -> Value:
    return elementwise("tim.NotEqual", a, b)


def less(a: Operand, b: Operand) -> Value:
    return elementwise("tim.Less", a, b)


def less_or_equal(a: Operand, b: Operand) -> Value:
    return elementwise("tim.LessOrEqual", a, b)


def greater(a: Operand, b: Operand) -> Value:
    return elementwise("tim.Greater", a, b)


def greater_or_equal(a: Operand, b: Operand) -> Value:
    return elementwise("tim.GreaterOrEqual", a, b)


def logical_and(a: Operand, b: Operand) -> Value:
    return elementwise("tim.LogicalAnd", a, b)


def logical_or(a: Operand, b: Operand) -> Value:
    return elementwise("tim.LogicalOr", a, b)


def select(condition: Operand, a: Operand, b: Operand) -> Value:
    """a where the condition is true, else b."""
    chosen = [*handles([condition]), *handles([a, b], True)]
    return Value(_core.values_call("tim.Select", chosen, [], ())[0])


# ---- Products and windows ---------------------------------------------------


def matmul(
    a: Operand, b: Operand, transpose_a: bool = False, transpose_b: bool = False
) -> Value:
    """Products of matrices (M, K) and (K, N), batches in the axes before."""
    return one(
        "tim.Matmul",
        [a, b],
        transpose_a=bool(transpose_a),
        transpose_b=bool(transpose_b),
    )


def fully_connected(
    x: Operand, weights: Operand, bias: Operand = None, axis: int = -1
) -> Value:
    """weights (O, K), bias (O,) or None; K are the extents from `axis` on."""
    return one("tim.FullyConnected", [x, weights, bias], axis=axis_of(axis))


def conv2d(
    x: Operand,
    weights: Operand,
    bias: Operand = None,
    *,
    stride: Window = 1,
    dilation: Window = 1,
    pad: Pads = 0,
    padding: str = "auto",
    multiplier: int = 0,
) -> Value:
    """x (N, C, H, W), weights (O, C, Kh, Kw), bias (O,) or None.

    `stride`, `dilation`: n or (vertical, horizontal). `pad`: the same, or
    ((top, bottom), (left, right)); `padding="same"` and "valid" tell the pads.
    `multiplier`: channels per input channel of a depthwise convolution; 0: it is
    none.
    """
    return one(
        "tim.Conv2d",
        [x, weights, bias],
        stride=pair_of(stride, "stride"),
        dilation=pair_of(dilation, "dilation"),
        pad=pads_of(pad),
        padding=padding,
        multiplier=multiplier,
    )


def pool2d(
    x: Operand,
    type: str,
    *,
    ksize: Window = 2,
    stride: Window = 2,
    pad: Pads = 0,
    padding: str = "auto",
) -> Value:
    """Windows of (N, C, H, W); `type`: "max", "avg" and what Pool2d has else."""
    return one(
        "tim.Pool2d",
        [x],
        type=type,
        ksize=pair_of(ksize, "ksize"),
        stride=pair_of(stride, "stride"),
        pad=pads_of(pad),
        padding=padding,
    )


def max_pool2d(x: Operand, **options: Any) -> Value:
    """pool2d(x, "max", ...)."""
    return pool2d(x, "max", **options)


def average_pool2d(x: Operand, **options: Any) -> Value:
    """pool2d(x, "avg", ...)."""
    return pool2d(x, "avg", **options)


# ---- Conversions ------------------------------------------------------------


def cast(x: Operand, dtype: Any) -> Value:
    """Elements of another type; floats are cut at the point."""
    return one("tim.Cast", [x], output_type=library_type(dtype))


def data_convert(x: Operand, dtype: Any) -> Value:
    """The same real values in another type, rounded."""
    return one("tim.DataConvert", [x], output_type=library_type(dtype))


def stop_gradient(x: Operand) -> Value:
    """The same value, a constant to gradients."""
    return one("tim.StopGradient", [x])
