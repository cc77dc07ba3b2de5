"""Writes small ONNX models with NumPy alone: messages of protobuf, by the field
numbers of onnx.proto."""

import struct

import numpy as np

TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6,
    "int64": 7, "bool": 9, "float16": 10, "float64": 11, "uint32": 12,
}  # fmt: skip
FLOAT, INT, STRING, TENSOR, FLOATS, INTS, STRINGS = 1, 2, 3, 4, 6, 7, 8


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """A field of a message: an int, a float, or a text, bytes or a message."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def tensor(name, array):
    """A TensorProto."""
    array = np.ascontiguousarray(array)
    return (
        fields(1, array.shape)
        + field(2, TYPES[array.dtype.name])
        + field(8, name)
        + field(9, array.tobytes())
    )


def attribute(name, value):
    """An AttributeProto of an int, a float, a text, an array or a list."""
    if isinstance(value, np.ndarray):
        content = field(5, tensor("", value)) + field(20, TENSOR)
    elif isinstance(value, int):
        content = field(3, value) + field(20, INT)
    elif isinstance(value, float):
        content = field(2, value) + field(20, FLOAT)
    elif isinstance(value, str):
        content = field(4, value) + field(20, STRING)
    elif all(isinstance(each, int) for each in value):
        content = fields(8, value) + field(20, INTS)
    else:
        content = fields(7, value) + field(20, FLOATS)
    return field(1, name) + content


def node(op, inputs, outputs, name="", domain="", **attributes):
    """A NodeProto."""
    return (
        fields(1, inputs)
        + fields(2, outputs)
        + field(3, name or outputs[0])
        + field(4, op)
        + fields(5, [attribute(*each) for each in attributes.items()])
        + field(7, domain)
    )


def value(name, dtype, shape):
    """A ValueInfoProto; extents are numbers, or names of what is left open."""
    dims = [
        field(1, extent) if isinstance(extent, int) else field(2, extent)
        for extent in shape
    ]
    of_tensor = field(1, TYPES[np.dtype(dtype).name]) + field(2, fields(1, dims))
    return field(1, name) + field(2, field(1, of_tensor))


def model(nodes, inputs, outputs, constants=None, opset=13, domains=()):
    """A ModelProto: nodes, values of inputs and outputs, and a dict of arrays."""
    graph = (
        fields(1, nodes)
        + field(2, "graph")
        + fields(5, [tensor(*each) for each in (constants or {}).items()])
        + fields(11, inputs)
        + fields(12, outputs)
    )
    opsets = [field(1, domain) + field(2, 1) for domain in domains]
    opsets.append(field(1, "") + field(2, opset))
    return field(1, 8) + field(2, "timcl") + field(7, graph) + fields(8, opsets)
