"""Cases of operators that sum products, whatever their geometry, in the form of
Conv2d's goldens: the same types, quantizations and rules.

A geometry has
  attributes()                    of the operator
  sums(x, k, extents)             exact sums of products, [N, OC, ...]
  channels(k)                     output channels
  kernel_axis()                   of per-channel scales, fastest-first
  check_floats(x, k, bias, sums, bound)
  check_integers(x, k, bias, sums, out)   out is None where rounding differs
the checks comparing with oracles where these have the case."""

import numpy as np

import oracle
from golden_format import (EXACT, Case, TYPES, close, per_channel, random_tensor,
                           small_integers, store)


def along_channels(values, rank):
    return np.reshape(values, (1, -1) + (1,) * (rank - 2))


def float_case(rng, op, geometry, dtype, x_shape, k_shape, make_bias=None, exact=False,
               kernel_role="const", extents=None, out_dtype=None):
    """`make_bias`: type of the bias, or None."""
    make = small_integers if exact else (
        lambda r, shape: random_tensor(r, dtype, shape))
    x, k = make(rng, x_shape), make(rng, k_shape)
    k.role = kernel_role
    k.array = k.array if exact else (k.array / 4).astype(k.array.dtype)
    sums = geometry.sums(x.real(), k.real(), extents)
    size = geometry.sums(np.abs(x.real()), np.abs(k.real()), extents)
    inputs = [x, k]
    if make_bias:
        b = random_tensor(rng, make_bias, sums.shape[1:2])
        if exact or dtype == "float16":
            b.array = np.rint(b.array * 2).astype(b.array.dtype)
        b.role = kernel_role
        inputs.append(b)
        sums = sums + along_channels(b.real(), sums.ndim)
        size = size + along_channels(np.abs(b.real()), sums.ndim)
    if dtype == "float32" and extents is None:
        geometry.check_floats(x, k, inputs[2:], sums, 1e-6 * size.max())
    out = store(sums, out_dtype or dtype, error=0)  # sums of halves are exact
    if extents:
        out = out.declared()
    tolerance = close(1e-6 * size.max()) if dtype == "float32" and not exact else EXACT
    return Case(op, geometry.attributes(), inputs, out, tolerance)


def quantized_case(rng, op, geometry, conv2d, kind, x_shape, k_shape, policy=(1, 1),
                   kernel_role="const", extents=None):
    """`kind`: a row of Conv2d's quantized_kinds()."""
    _, (x_type, x_quant), (k_type, k_quant), (out_type, out_quant), bias = kind
    if k_quant == "pc":
        channels = geometry.channels(k_shape)
        k_quant = per_channel(geometry.kernel_axis(), rng.uniform(0.002, 0.02, channels))
    x = random_tensor(rng, x_type, x_shape, x_quant)
    k = random_tensor(rng, k_type, k_shape, k_quant, kernel_role)
    acc = geometry.sums(x.centered(), k.centered(), extents)
    s_k = np.array(k_quant.scales if k_quant.kind == "channel" else [k_quant.scale()])
    s_acc = x_quant.scale() * along_channels(s_k, acc.ndim)
    inputs = [x, k]
    if bias:
        b = conv2d.make_bias(rng, bias, acc.shape[1], acc, x_quant, k_quant, kernel_role)
        inputs.append(b)
        acc = acc + along_channels(b.array.astype(np.int64), acc.ndim)
    wrap, to_zero = policy[0] == 0, policy[1] == 0
    out = store(acc * s_acc, out_type, out_quant, wrap=wrap, to_zero=to_zero)
    if TYPES[out_type] and policy == (1, 1):
        check_two_roundings(acc, s_acc, out)
    if extents is None:
        geometry.check_integers(x, k, inputs[2:], acc, out if policy == (1, 1) else None)
    attributes = geometry.attributes()
    if policy != (1, 1):
        attributes |= {"overflow_policy": policy[0], "rounding_policy": policy[1]}
    # One multiplication, scales combined in any order.
    tolerance = close(0, 4e-7) if out_type == "float32" else EXACT
    return Case(op, attributes, inputs, out.declared() if extents else out, tolerance)


def check_two_roundings(acc, s_acc, out):
    """Rounding the multiplier to float32 first gives the same codes."""
    multiplier = np.float32(s_acc / out.quant.scale())
    units = np.float32(acc) * multiplier + np.float32(out.quant.zero())
    low, high = TYPES[out.dtype][1:]
    oracle.require_equal(np.clip(np.rint(units), low, high), out.array, "two roundings")


# Types that get every geometry; the others get the first two, or a small one
# where 16 bits leave few results that are not near a tie, or sums beyond a bias
# of 32 bits.
MAIN = ("u8_u8", "i8_i8", "u8_i8pc", "i8_i8pc", "i16d_i16d")


def add_quantized(suite, op, conv2d, geometries, small):
    """Geometries are (name, input, kernel, geometry); the first of `geometries`
    is taken with other roles and policies too."""
    kinds = {row[0]: row for row in conv2d.quantized_kinds()}
    for name, kind in kinds.items():
        rows = geometries if name in MAIN else geometries[:2]
        if name.startswith(("u16", "i16_i16", "i16d_i16d_bias32")):
            rows = [small]
        for where, x, k, geometry in rows:
            suite.add(f"{name}_{where}", lambda rng: quantized_case(
                rng, op, geometry, conv2d, kind, x, k))
    _, x, k, geometry = geometries[0]
    for name in ("u8_u8", "u8_i8pc"):
        suite.add(f"{name}_input_kernel_and_bias", lambda rng: quantized_case(
            rng, op, geometry, conv2d, kinds[name], x, k, kernel_role="var"))
    for name, policy in (("wrap", (0, 1)), ("to_zero", (1, 0))):
        suite.add(f"u8_u8_{name}", lambda rng: quantized_case(
            rng, op, geometry, conv2d, kinds["u8_u8"], x, k, policy=policy))


def add_floats(suite, op, geometries, halves):
    """`geometries` as above, all for float32, those named in `halves` for
    float16 too; the first also with other biases and roles."""
    for i, (name, x, k, geometry) in enumerate(geometries):
        for dtype, short in (("float32", "f32"), ("float16", "f16")):
            if dtype == "float16" and name not in halves:
                continue
            suite.add(f"{short}_{name}", lambda rng: float_case(
                rng, op, geometry, dtype, x, k, "float32" if i % 2 == 0 else None))
    _, x, k, geometry = geometries[0]
    suite.add("f32_integers", lambda rng: float_case(
        rng, op, geometry, "float32", x, k, "float32", exact=True))
    suite.add("f32_input_kernel_and_bias", lambda rng: float_case(
        rng, op, geometry, "float32", x, k, "float32", kernel_role="var"))
    for dtype, short in (("float32", "f32"), ("float16", "f16")):
        suite.add(f"{short}_half_bias", lambda rng: float_case(
            rng, op, geometry, dtype, x, k, "float16"))
