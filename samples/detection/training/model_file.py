"""Writes the sample's model files; ../README.md has the format."""

import zlib

import numpy as np

import quantize
import ssd

MAGIC = "timcl-detector 1"
TYPES = {"f32": "<f4", "i32": "<i4", "u8": "u1"}
ANCHOR_SCALE = 1.0 / (2 * ssd.EXTENT)  # of which all anchors are multiples


class Model:
    """Lines of a header, and the data of its tensors."""

    def __init__(self):
        self.lines = ["input %d" % ssd.EXTENT]
        self.lines.append("scales " + " ".join("%g" % s for s in ssd.BOX_SCALES))
        self.lines += ["class " + name for name in ssd.CLASSES]
        self.data = b""

    def activation(self, name, type_name, scale=1.0, zero_point=0):
        fields = (name, type_name, np.float32(scale), zero_point)
        self.lines.append("activation %s %s %.9g %d" % fields)

    def tensor(self, name, type_name, array, scale=1.0, zero_point=0):
        """The array is row-major, its slowest dimension first."""
        fields = (name, type_name, np.float32(scale), zero_point)
        # The file, as tim::vx, names the fastest-varying dimension first.
        extents = " ".join(str(extent) for extent in array.shape[::-1])
        self.lines.append("tensor %s %s %.9g %d " % fields + extents)
        self.data += np.ascontiguousarray(array, TYPES[type_name]).tobytes()

    def save(self, path):
        header = "\n".join(self.lines) + "\ndata\n"
        content = header.encode("ascii") + self.data
        first = "%s %d %08x\n" % (MAGIC, len(content), zlib.crc32(content))
        path.write_bytes(first.encode("ascii") + content)


def save_float(path, params):
    model = Model()
    model.activation("input", "f32", quantize.INPUT_SCALE)
    names = [layer[0] for layer in ssd.LAYERS]
    for name in ["score", *names, "box", "class"]:
        model.activation(name, "f32")
    for name, (weight, bias) in params.items():
        model.tensor(name + ".weight", "f32", weight.numpy())
        model.tensor(name + ".bias", "f32", bias.numpy())
    model.tensor("anchors", "f32", ssd.make_anchors())
    model.save(path)


def save_uint8(path, params, ranges):
    model = Model()
    model.activation("input", "u8", quantize.INPUT_SCALE)
    model.activation("score", "u8", quantize.SCORE_SCALE)
    for name, codes in ranges.items():
        model.activation(name, "u8", codes.scale, codes.zero_point)
    # What a layer reads, by its name.
    before = dict(zip([layer[0] for layer in ssd.LAYERS[1:]], params))
    before.update({kind + number: layer for number, layer, _ in ssd.MAPS
                   for kind in ("box", "class")})
    for name, (weight, bias) in params.items():
        codes = quantize.weight_range(weight)
        scale_in = quantize.INPUT_SCALE
        if name in before:
            scale_in = ranges[before[name]].scale
        scale = float(np.float32(scale_in)) * float(np.float32(codes.scale))
        model.tensor(name + ".weight", "u8", codes.codes(weight).numpy(),
                     codes.scale, codes.zero_point)
        model.tensor(name + ".bias", "i32", np.rint(bias.numpy() / scale), scale)
    anchors = np.rint(ssd.make_anchors() / ANCHOR_SCALE)
    model.tensor("anchors", "u8", anchors, ANCHOR_SCALE)
    model.save(path)
