"""Gradients of operators. Oracle: JAX (jax.vjp, in float64).

Inputs of a case are the operator's and, behind them, the cotangents of its
outputs; outputs are the gradients of its float32 inputs. Arrays are row-major,
so that axes of attributes count from their last one.
"""

import os
import sys

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "goldens"))
from golden_format import Case, Suite, Tensor, close


def floats(rng, shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape).astype(np.float32)


class Gradients:
    def __init__(self, script):
        self.suite = Suite(script, jax)

    def add(self, name, op, function, shapes, attributes=None, ranges=None, fixed=()):
        """`function` of float arrays of `shapes`; `fixed`: integer inputs, given
        behind them to the operator and to the function."""

        def make(rng):
            limits = ranges or [(-2.0, 2.0)] * len(shapes)
            inputs = [floats(rng, shape, *limit) for shape, limit in zip(shapes, limits)]
            wide = [jnp.asarray(x, jnp.float64) for x in inputs]
            result, pull = jax.vjp(lambda *x: function(*x, *fixed), *wide)
            cotangent = floats(rng, result.shape, -1, 1)
            found = pull(jnp.asarray(cotangent, jnp.float64))
            tensors = [Tensor("float32", x) for x in inputs]
            tensors += [Tensor("int32", x) for x in fixed]
            tensors.append(Tensor("float32", cotangent))
            largest = max(float(np.abs(g).max()) for g in found)
            return Case(op, attributes or {}, tensors,
                        [Tensor("float32", np.asarray(g)) for g in found],
                        close(2e-5 * max(largest, 1.0)))

        self.suite.add(name, make)


def matmul(a, b, ta, tb):
    return jnp.matmul(jnp.swapaxes(a, -1, -2) if ta else a,
                      jnp.swapaxes(b, -1, -2) if tb else b)


def convolution(x, w, bias=None, stride=(1, 1), dilation=(1, 1), pad=((0, 0), (0, 0)), groups=1):
    """stride, dilation, pad along H, W."""
    y = lax.conv_general_dilated(x, w, stride, pad, rhs_dilation=dilation,
                                 feature_group_count=groups,
                                 dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return y if bias is None else y + bias[None, :, None, None]


def transposed(x, w, stride, pad):
    """w is [O, I, H, W]; the output has so many cells less at each end."""
    kernel = w.shape[2:]
    edges = [(k - 1 - p[0], k - 1 - p[1]) for k, p in zip(kernel, pad)]
    return lax.conv_general_dilated(x, w[:, :, ::-1, ::-1], (1, 1), edges, lhs_dilation=stride,
                                    dimension_numbers=("NCHW", "OIHW", "NCHW"))


def max_pool(x, kernel, stride, pad):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, *kernel), (1, 1, *stride),
                             ((0, 0), (0, 0), *pad))


def average_pool(x, kernel, stride, pad, inside):
    total = lax.reduce_window(x, 0.0, lax.add, (1, 1, *kernel), (1, 1, *stride),
                              ((0, 0), (0, 0), *pad))
    if not inside:
        return total / (kernel[0] * kernel[1])
    count = lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, (1, 1, *kernel), (1, 1, *stride),
                              ((0, 0), (0, 0), *pad))
    return total / count


def normalized(x, axes, eps):
    mean = x.mean(axes, keepdims=True)
    variance = ((x - mean) ** 2).mean(axes, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + eps)


def add_pointwise(out):
    pair = [(2, 3, 4), (3, 1)]
    out.add("add", "tim.Add", jnp.add, pair)
    out.add("sub", "tim.Sub", jnp.subtract, pair)
    out.add("multiply", "tim.Multiply", lambda a, b: a * b * 0.5, pair, {"scale": 0.5})
    out.add("div", "tim.Div", jnp.divide, pair, ranges=[(-2, 2), (0.5, 2)])
    out.add("maximum", "tim.Maximum", jnp.maximum, pair)
    out.add("minimum", "tim.Minimum", jnp.minimum, pair)
    out.add("pow", "tim.Pow", jnp.power, pair, ranges=[(0.5, 2), (-2, 2)])
    shape = [(3, 7)]
    for op, function in [
        ("Relu", jax.nn.relu), ("Relu6", jax.nn.relu6), ("Tanh", jnp.tanh),
        ("Sigmoid", jax.nn.sigmoid), ("Swish", jax.nn.silu), ("HardSwish", jax.nn.hard_swish),
        ("SoftRelu", jax.nn.softplus), ("Exp", jnp.exp), ("Square", jnp.square),
        ("Neg", jnp.negative), ("Abs", jnp.abs), ("Sin", jnp.sin), ("Cos", jnp.cos),
        ("Erf", jax.scipy.special.erf), ("Mish", jax.nn.mish),
    ]:
        out.add(op.lower(), "tim." + op, function, shape)
    for op, function in [("Log", jnp.log), ("Sqrt", jnp.sqrt), ("Rsqrt", lax.rsqrt),
                         ("Rcp", lambda x: 1 / x)]:
        out.add(op.lower(), "tim." + op, function, shape, ranges=[(0.5, 3)])
    out.add("leakyrelu", "tim.LeakyRelu", lambda x: jax.nn.leaky_relu(x, 0.2), shape,
            {"alpha": 0.2})
    out.add("elu", "tim.Elu", lambda x: jax.nn.elu(x, 0.7), shape, {"alpha": 0.7})
    out.add("gelu_tanh", "tim.Gelu", lambda x: jax.nn.gelu(x, True), shape, {"approximate": True})
    out.add("gelu_erf", "tim.Gelu", lambda x: jax.nn.gelu(x, False), shape,
            {"approximate": False})


def add_products(out):
    for ta in (False, True):
        for tb in (False, True):
            a, b = ((4, 3) if ta else (3, 4)), ((5, 4) if tb else (4, 5))
            out.add(f"matmul_{int(ta)}{int(tb)}", "tim.Matmul",
                    lambda a, b, ta=ta, tb=tb: matmul(a, b, ta, tb), [a, b],
                    {"transpose_a": ta, "transpose_b": tb})
    out.add("matmul_batches", "tim.Matmul", jnp.matmul, [(2, 1, 3, 4), (3, 4, 2)])
    out.add("fullyconnected", "tim.FullyConnected", lambda x, w, b: x @ w.T + b,
            [(3, 6), (4, 6), (4,)], {"axis": 0})
    image, weights = (2, 3, 6, 7), (4, 3, 2, 3)
    for name, attributes, options in [
        ("plain", {}, {}),
        ("strides", {"stride": [3, 2], "pad": [1, 0, 2, 1]},
         {"stride": (2, 3), "pad": ((2, 1), (1, 0))}),
        ("dilations", {"dilation": [1, 2], "pad": [1, 1, 0, 2]},
         {"dilation": (2, 1), "pad": ((0, 2), (1, 1))}),
        ("same", {"padding": 2, "stride": [2, 2]}, {"stride": (2, 2), "pad": "SAME"}),
        ("valid", {"padding": 1, "stride": [2, 1], "dilation": [2, 1]},
         {"stride": (1, 2), "dilation": (1, 2), "pad": "VALID"}),
    ]:
        out.add("conv2d_" + name, "tim.Conv2d",
                lambda x, w, b, options=options: convolution(x, w, b, **options),
                [image, weights, (4,)], attributes)
    out.add("conv2d_groups", "tim.Conv2d", lambda x, w: convolution(x, w, groups=2),
            [(2, 4, 5, 5), (6, 2, 3, 2)])
    out.add("conv2d_depthwise", "tim.Conv2d",
            lambda x, w: convolution(x, w, stride=(2, 1), pad=((1, 1), (1, 1)), groups=4),
            [(2, 4, 5, 5), (4, 1, 3, 2)], {"stride": [1, 2], "pad": [1, 1, 1, 1],
                                           "multiplier": 1})
    out.add("deconv2d", "tim.DeConv2d",
            lambda x, w: transposed(x, w, (2, 3), ((1, 0), (0, 1))),
            [(2, 3, 3, 4), (4, 3, 2, 3)], {"stride": [3, 2], "pad": [0, 1, 1, 0]})
    for name, op_type, function in [
        ("maxpool", 0, max_pool),
        ("avgpool", 1, lambda *a: average_pool(*a, False)),
        ("avgpool_inside", 3, lambda *a: average_pool(*a, True)),
    ]:
        out.add(name, "tim.Pool2d",
                lambda x, function=function: function(x, (2, 3), (2, 1), ((0, 0), (1, 1))),
                [(2, 2, 6, 5)], {"type": op_type, "ksize": [3, 2], "stride": [1, 2],
                                 "pad": [1, 1, 0, 0]})


def add_rest(out):
    shape = [(2, 3, 4)]
    out.add("softmax", "tim.Softmax", lambda x: jax.nn.softmax(0.7 * x, 1), shape,
            {"axis": 1, "beta": 0.7})
    out.add("logsoftmax", "tim.LogSoftmax", lambda x: jax.nn.log_softmax(x, 2), shape,
            {"axis": 0, "beta": 1.0})
    out.add("layernorm", "tim.LayerNormalization",
            lambda x, beta, gamma: normalized(x, (1,), 1e-5) * gamma + beta,
            [(3, 8), (8,), (8,)], {"axis": 0})
    out.add("instancenorm", "tim.InstanceNormalization",
            lambda x, beta, gamma: normalized(x, (2, 3), 1e-5) * gamma[:, None, None]
            + beta[:, None, None], [(2, 3, 3, 4), (3,), (3,)])
    out.add("batchnorm", "tim.BatchNorm",
            lambda x, m, v, g, b: (x - m[:, None]) / jnp.sqrt(v[:, None] + 1e-3) * g[:, None]
            + b[:, None], [(2, 3, 5), (3,), (3,), (3,), (3,)], {"eps": 1e-3},
            ranges=[(-2, 2), (-1, 1), (0.5, 2), (-2, 2), (-2, 2)])
    for op, function in [("ReduceSum", jnp.sum), ("ReduceMean", jnp.mean), ("ReduceMax", jnp.max),
                         ("ReduceMin", jnp.min)]:
        out.add(op.lower(), "tim." + op, lambda x, function=function: function(x, (0, 2)), shape,
                {"axis": [0, 2], "keep_dims": False})
    out.add("gather", "tim.Gather", lambda x, i: jnp.take(x, i, 1), [(2, 3, 4)], {"axis": 1},
            fixed=[np.array([2, 0, 2, 1, 2], np.int32)])
    out.add("concat", "tim.Concat", lambda a, b: jnp.concatenate([a, b], 1),
            [(2, 3, 4), (2, 1, 4)], {"axis": 1, "input_cnt": 2})
    out.add("pad", "tim.Pad", lambda x: jnp.pad(x, ((1, 0), (0, 2), (1, 1))), shape,
            {"front_size": [1, 0, 1], "back_size": [1, 2, 0]})
    out.add("stridedslice", "tim.StridedSlice", lambda x: x[:, 1:3, 3:0:-2], shape,
            {"begin_dims": [3, 1, 0], "end_dims": [0, 3, 2], "stride_dims": [-2, 1, 1]})
    out.add("transpose", "tim.Transpose", lambda x: jnp.transpose(x, (1, 2, 0)), shape,
            {"perm": [2, 0, 1]})
    out.add("tile", "tim.Tile", lambda x: jnp.tile(x, (2, 1, 3)), shape, {"multiples": [3, 1, 2]})


def main():
    out = Gradients(__file__)
    add_pointwise(out)
    add_products(out)
    add_rest(out)
    out.suite.write()


if __name__ == "__main__":
    main()
