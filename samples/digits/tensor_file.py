"""Reads and writes the sample's tensor files; README.md has the format."""

import numpy as np

MAGIC = "timcl-tensors 1"
TYPES = {"f32": "<f4", "i32": "<i4", "u8": "u1"}


class Tensor:
    """A named array, or only its type and quantization (array is None).

    real value = (stored value - zero_point) * scale. The array is row-major,
    its dimensions slowest first, as NumPy and PyTorch show them.
    """

    def __init__(self, type_name, scale=1.0, zero_point=0, array=None):
        self.type_name = type_name
        self.scale = np.float32(scale)
        self.zero_point = int(zero_point)
        self.array = array


def save(path, tensors):
    """Writes a dict of name -> Tensor."""
    lines = [MAGIC]
    for name, t in tensors.items():
        # The file, as tim::vx, names the fastest-varying dimension first.
        dims = () if t.array is None else t.array.shape[::-1]
        fields = ["tensor", name, t.type_name, "%.9g" % t.scale, t.zero_point]
        lines.append(" ".join(str(f) for f in (*fields, *dims)))
    with open(path, "wb") as f:
        f.write(("\n".join(lines) + "\ndata\n").encode("ascii"))
        for t in tensors.values():
            if t.array is not None:
                dtype = TYPES[t.type_name]
                f.write(np.ascontiguousarray(t.array, dtype).tobytes())


def load(path):
    """Returns a dict of name -> Tensor."""
    with open(path, "rb") as f:
        content = f.read()
    header, data = content.split(b"\ndata\n", 1)
    lines = header.decode("ascii").split("\n")
    if lines[0] != MAGIC:
        raise ValueError("%s: the first line is not '%s'" % (path, MAGIC))
    tensors, offset = {}, 0
    for line in lines[1:]:
        _, name, type_name, scale, zero_point, *dims = line.split()
        tensors[name] = Tensor(type_name, float(scale), int(zero_point))
        if dims:
            shape = [int(d) for d in reversed(dims)]
            array = np.frombuffer(
                data, TYPES[type_name], int(np.prod(shape)), offset
            )
            tensors[name].array = array.reshape(shape)
            offset += array.nbytes
    if offset != len(data):
        raise ValueError("%s: data bytes left over" % path)
    return tensors
