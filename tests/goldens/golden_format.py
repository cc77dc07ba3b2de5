"""Golden cases: tensors, the quantization rules in float64, and the file format.

README.md describes the format. Nothing here comes from TIM-CL's own code: the
rules are those of the operator specification, computed with NumPy.
"""

import os
import platform
import zlib

import numpy as np

# The repository's folder.
_ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Name -> (bits, least code, greatest code); None for floats.
TYPES = {
    "int4": (4, -8, 7),
    "uint4": (4, 0, 15),
    "int8": (8, -128, 127),
    "uint8": (8, 0, 255),
    "int16": (16, -(2**15), 2**15 - 1),
    "uint16": (16, 0, 2**16 - 1),
    "int32": (32, -(2**31), 2**31 - 1),
    "uint32": (32, 0, 2**32 - 1),
    "int64": (64, -(2**63), 2**63 - 1),
    "bool8": (8, 0, 1),
    "float16": None,
    "float32": None,
}
_STORAGE = {"int4": "int8", "uint4": "uint8", "bool8": "uint8"}


class NearTie(Exception):
    """A result lies so near a rounding tie that correct programs may differ."""


def is_float(dtype):
    return TYPES[dtype] is None


class Quant:
    """How codes stand for real numbers; `axis` counts fastest-first."""

    def __init__(self, kind="none", scales=(), zero_points=(), axis=-1, fl=0):
        self.kind = kind
        self.scales = [float(np.float32(s)) for s in scales]
        self.zero_points = [int(z) for z in zero_points]
        self.axis = axis
        self.fl = fl

    def _along(self, values, rank):
        if self.kind != "channel":
            return values[0]
        shape = [1] * rank
        shape[rank - 1 - self.axis] = len(self.scales)
        if len(values) < len(self.scales):
            values = values + [values[-1]] * (len(self.scales) - len(values))
        return np.array(values).reshape(shape)

    def scale(self, rank=0):
        """float64 scale(s), shaped to broadcast against an array of `rank`."""
        if self.kind == "none":
            return 1.0
        if self.kind == "fixed":
            return 2.0**-self.fl
        return self._along(self.scales, rank)

    def zero(self, rank=0):
        if self.kind in ("none", "fixed"):
            return 0
        return self._along(self.zero_points, rank)

    def text(self):
        if self.kind == "none":
            return "none"
        if self.kind == "fixed":
            return f"fixed {self.fl}"
        if self.kind == "tensor":
            return f"tensor {self.scales[0]:.9g} {self.zero_points[0]}"
        scales = " ".join(f"{s:.9g}" for s in self.scales)
        zeros = " ".join(str(z) for z in self.zero_points)
        return f"channel {self.axis} [ {scales} ] [ {zeros} ]"


NONE = Quant()


def per_tensor(scale, zero_point=0):
    return Quant("tensor", [scale], [zero_point])


def per_channel(axis, scales, zero_points=(0,)):
    return Quant("channel", scales, zero_points, axis)


def fixed_point(fl):
    return Quant("fixed", fl=fl)


class Tensor:
    """Codes or values as a row-major array (so dims are its shape reversed)."""

    def __init__(self, dtype, array, quant=NONE, role="var", blocked=None):
        self.dtype = dtype
        storage = _STORAGE.get(dtype, dtype)
        array = np.asarray(array)
        self.array = array.astype(storage)
        if not is_float(dtype):
            assert np.array_equal(self.array.astype(object), array), dtype
            low, high = TYPES[dtype][1:]
            assert array.size == 0 or (low <= array.min() and array.max() <= high)
        self.quant = quant
        self.role = role  # inputs: var, const; outputs: inferred, declared
        self.blocked = blocked  # (axis, block): array is dense, bytes are not

    @property
    def rank(self):
        return self.array.ndim

    def const(self):
        return Tensor(self.dtype, self.array, self.quant, "const")

    def declared(self):
        return Tensor(self.dtype, self.array, self.quant, "declared")

    def centered(self):
        """Codes minus zero points as int64."""
        return self.array.astype(np.int64) - self.quant.zero(self.rank)

    def real(self):
        """float64 values."""
        if is_float(self.dtype):
            return self.array.astype(np.float64)
        return self.centered() * self.quant.scale(self.rank)

    def to_bytes(self):
        if self.blocked:
            return _block(self).tobytes()
        array = np.ascontiguousarray(self.array)
        if TYPES[self.dtype] is None or TYPES[self.dtype][0] != 4:
            return array.astype(array.dtype.newbyteorder("<")).tobytes()
        rows = array.reshape(-1, array.shape[-1] if array.ndim else 1)
        nibbles = rows.astype(np.uint8) & 15
        if nibbles.shape[1] % 2:  # rows are padded to whole bytes
            nibbles = np.pad(nibbles, ((0, 0), (0, 1)))
        return (nibbles[:, 0::2] | nibbles[:, 1::2] << 4).astype(np.uint8).tobytes()

    def text(self):
        dims = " ".join(str(d) for d in reversed(self.array.shape))
        layout = "blocked %d %d" % self.blocked if self.blocked else "dense"
        return f"{self.dtype} [ {dims} ] {self.quant.text()} {layout} {self.role}"


def _block(tensor):
    """[..., A, ...] -> [..., ceil(A / b), ..., b], tail lanes = zero point."""
    axis, block = tensor.blocked
    at = tensor.rank - 1 - axis
    extent = tensor.array.shape[at]
    pad = [(0, 0)] * tensor.rank
    pad[at] = (0, -extent % block)
    zero = 0 if is_float(tensor.dtype) else tensor.quant.zero(tensor.rank)
    padded = np.pad(tensor.array, pad, constant_values=zero)
    shape = list(padded.shape)
    shape[at : at + 1] = [padded.shape[at] // block, block]
    return np.moveaxis(padded.reshape(shape), at + 1, -1).copy()


# ---- rounding ---------------------------------------------------------------


def to_codes(units, dtype, magnitude=None, slack=0.0, wrap=False, to_zero=False,
             exact=False):
    """clamp(rint(units)) for float64 `units` = real / scale + zero point.

    Raises NearTie where a float32 computation of the same formula may round the
    other way. `magnitude`: the largest intermediate in units (default: units).
    `exact`: float32 computes it without error (powers of two), ties included.
    """
    bits, low, high = TYPES[dtype]
    units = np.asarray(units, np.float64)
    size = np.abs(units) if magnitude is None else np.asarray(magnitude)
    margin = 1e-4 + slack + 2.0**-21 * size
    finite = np.isfinite(units)
    safe = np.where(finite, units, 0)
    to_tie = np.abs(safe - np.floor(safe) - 0.5)
    distance = np.where(to_tie > 0.25, 0.5 - to_tie, 1) if to_zero else to_tie
    matters = finite & (wrap | ((safe > low - 1) & (safe < high + 1)))
    if not exact and np.any(matters & (distance < margin)):
        raise NearTie
    rounded = np.trunc(safe) if to_zero else np.rint(safe)
    if wrap:
        assert finite.all()
        codes = rounded.astype(np.int64)
        codes = (codes - low) % 2**bits + low
    else:
        codes = np.clip(np.where(finite, rounded, units), low, high)
    return codes.astype(np.int64)


def fit(values, dtype, wrap=False):
    """Exact integers (Python or int64) saturated or wrapped to the type."""
    bits, low, high = TYPES[dtype]
    values = np.asarray(values, object)
    fitted = (values - low) % 2**bits + low if wrap else np.clip(values, low, high)
    return fitted.astype(np.int64)


def to_half(real, error=4e-7, magnitude=0.0):
    """One rounding to binary16, refused where an error of `error` times the
    larger of the value and `magnitude` matters; `error` 0: float32 is exact."""
    real = np.asarray(real, np.float64)
    allowed = error * np.maximum(np.abs(real), magnitude)
    with np.errstate(over="ignore"):
        half = real.astype(np.float16)
    finite = np.isfinite(half)
    safe = np.where(finite, half, np.float16(0))
    off = np.abs(real - safe.astype(np.float64))
    to_tie = np.abs(off - np.spacing(np.abs(safe)).astype(np.float64) / 2)
    if np.any(finite & (off > 0) & (to_tie < allowed)):
        raise NearTie
    return half


def store(real, dtype, quant=NONE, magnitude=None, slack=0.0, error=4e-7, **policy):
    """A Tensor of float64 `real` values: the rounding that ends an operator.

    `magnitude` is the largest intermediate, in real units; `slack` in codes;
    `error` relative, for half.
    """
    if dtype == "float32":
        return Tensor(dtype, np.asarray(real, np.float64).astype(np.float32), quant)
    if dtype == "float16":
        size = 0.0 if magnitude is None else magnitude
        return Tensor(dtype, to_half(real, error, size), quant)
    rank = np.ndim(real)
    scale, zero = quant.scale(rank), quant.zero(rank)
    size = np.abs(real if magnitude is None else magnitude) / scale + np.abs(zero)
    size = np.where(np.isfinite(size), size, 0)
    codes = to_codes(real / scale + zero, dtype, size, slack, **policy)
    return Tensor(dtype, codes, quant)


# ---- data -------------------------------------------------------------------


def random_tensor(rng, dtype, shape, quant=NONE, role="var"):
    """Full code range; float32 normal; float16 multiples of 1/8 in [-4, 4], so
    that sums of products are exact in float32 whatever their order."""
    if dtype == "float32":
        return Tensor(dtype, rng.standard_normal(shape), quant, role)
    if dtype == "float16":
        return Tensor(dtype, rng.integers(-32, 33, shape) / 8, quant, role)
    low, high = TYPES[dtype][1:]
    if dtype in ("int32", "uint32", "int64"):
        low, high = max(low, -1000), 1000
    codes = rng.integers(low, high + 1, shape)
    return Tensor(dtype, codes, quant, role)


def small_integers(rng, shape, limit=8):
    """float32 whose sums of products are exact in any order."""
    return Tensor("float32", rng.integers(-limit, limit + 1, shape))


# ---- cases ------------------------------------------------------------------

EXACT = "exact"


def close(absolute, relative=0.0):
    """|found - expected| <= absolute + relative * |expected|."""
    return f"close {absolute:.3g} {relative:.3g}"


class Case:
    def __init__(self, op, attributes, inputs, outputs, tolerance=EXACT):
        self.op = op
        self.attributes = attributes
        self.inputs = inputs  # Tensor, or None where absent
        self.outputs = outputs if isinstance(outputs, list) else [outputs]
        self.tolerance = tolerance


def _attribute(value):
    if isinstance(value, bool):
        return f"bool {int(value)}"
    if isinstance(value, int):
        return f"int {value}"
    if isinstance(value, float):
        return f"float {value:.17g}"
    if isinstance(value, str):
        return f"string {value}"
    return "ints [ " + " ".join(str(v) for v in value) + " ]"


class Suite:
    """Cases of one folder. The seed of a case is made of its name, so that
    cases can be added and removed without changing the others."""

    def __init__(self, script, *modules):
        self.folder = os.path.dirname(os.path.abspath(script))
        self.stem = os.path.basename(self.folder)
        self.modules = modules
        self.lines = []
        self.data = bytearray()
        self.names = set()

    def add(self, name, make):
        """`make(rng)` returns a Case; repeated with the next seed on NearTie."""
        assert name not in self.names, name
        self.names.add(name)
        seed = zlib.crc32(f"{self.stem}/{name}".encode())
        for attempt in range(2000):
            try:
                case = make(np.random.default_rng([seed, attempt]))
                break
            except NearTie:
                continue
        else:
            raise RuntimeError(f"{name}: every seed has a value near a tie")
        self._write(name, case, f"{seed} {attempt}")

    def _write(self, name, case, seed):
        lines = ["", f"case {name}", f"op {case.op}", f"seed {seed}"]
        for key, value in case.attributes.items():
            lines.append(f"attribute {key} {_attribute(value)}")
        for tensor in case.inputs:
            lines.append("input " + (self._operand(tensor) if tensor else "absent"))
        for tensor in case.outputs:
            if tensor.role == "var":
                tensor.role = "inferred"
            lines.append("output " + self._operand(tensor))
        lines += [f"tolerance {case.tolerance}", "end"]
        self.lines += lines

    def _operand(self, tensor):
        data = tensor.to_bytes()
        offset = len(self.data)
        self.data += data
        return f"{tensor.text()} {offset} {len(data)}"

    def write(self):
        versions = [f"python {platform.python_version()}", f"numpy {np.__version__}"]
        versions += [f"{m.__name__} {m.__version__}" for m in self.modules]
        head = [
            f"# Goldens of {self.stem}, made by {os.path.relpath(self.folder, _ROOT)}/make_golden.py.",
            "# Versions: " + ", ".join(versions) + ".",
            "# Seed: numpy default_rng([crc32('<stem>/<case>'), attempt]), both per case.",
            "# Format: tests/goldens/README.md.",
        ]
        with open(os.path.join(self.folder, "cases.txt"), "w") as file:
            file.write("\n".join(head + self.lines) + "\n")
        with open(os.path.join(self.folder, "cases.bin"), "wb") as file:
            file.write(self.data)
        print(f"{self.stem}: {len(self.names)} cases, {len(self.data)} bytes")
