"""The network of the detection sample, its anchors and its training targets.

The graph of ../ssd.cc is the same: seven 3x3 convolutions with relu, and on two
of their results two 3x3 convolutions each, for boxes and for classes.
"""

import numpy as np
import torch
from torch import nn

EXTENT = 96  # the input is a square of so many pixels
CLASSES = ("circle", "square", "triangle", "star")
# Name, output channels, stride; padding is 1 all around.
LAYERS = (
    ("conv1", 16, 2),
    ("conv2", 24, 2),
    ("conv3", 24, 1),
    ("conv4", 48, 2),
    ("conv5", 64, 1),
    ("conv6", 64, 2),
    ("conv7", 64, 1),
)
# Heads on the result of a layer: number, layer, and the anchors' sides, pixels.
MAPS = (
    ("1", "conv5", (14, 20, 28)),
    ("2", "conv7", (38, 48, 58)),
)
# y, x, h, w: what DetectionPostProcess divides encodings by.
BOX_SCALES = (10.0, 10.0, 5.0, 5.0)


def make_anchors():
    """[N, 4]: middle y, x, height, width, in parts of the input's extent.

    Row by row; of one place the anchors in the order of their sides.
    """
    anchors = []
    for _, layer, sides in MAPS:
        stride = 1
        for name, _, layer_stride in LAYERS:
            stride *= layer_stride
            if name == layer:
                break
        cells = (np.arange(EXTENT // stride) + 0.5) * stride
        for y in cells:
            anchors += [(y, x, side, side) for x in cells for side in sides]
    return np.array(anchors, np.float32) / EXTENT


class Ssd(nn.Module):
    """For training: with batch normalization, which folded() dissolves."""

    def __init__(self):
        super().__init__()
        self.convs, self.norms = nn.ModuleDict(), nn.ModuleDict()
        channels = 3
        of_layer = {}
        for name, outputs, stride in LAYERS:
            self.convs[name] = nn.Conv2d(
                channels, outputs, 3, stride, padding=1, bias=False
            )
            self.norms[name] = nn.BatchNorm2d(outputs)
            channels = of_layer[name] = outputs
        self.heads = nn.ModuleDict()
        for number, layer, sides in MAPS:
            for kind, size in (("box", 4), ("class", len(CLASSES))):
                head = nn.Conv2d(
                    of_layer[layer], len(sides) * size, 3, padding=1
                )
                nn.init.normal_(head.weight, std=0.01)
                # At first nothing is likely to be an object.
                nn.init.constant_(head.bias, -4.0 if kind == "class" else 0.0)
                self.heads[kind + number] = head

    def forward(self, x):
        def conv(name, x):
            if name in self.heads:
                return self.heads[name](x)
            return self.norms[name](self.convs[name](x))

        return forward(conv, x)

    def folded(self):
        """The weights and biases of plain convolutions: name -> (w, b)."""
        params = {}
        for name, conv in self.convs.items():
            norm = self.norms[name]
            factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            weight = conv.weight * factor[:, None, None, None]
            params[name] = (weight, norm.bias - norm.running_mean * factor)
        for name, head in self.heads.items():
            params[name] = (head.weight, head.bias)
        return {
            name: tuple(p.detach().clone() for p in pair)
            for name, pair in params.items()
        }


def forward(conv, x, observe=lambda name, x: x):
    """Box encodings [B, N, 4] and logits [B, N, classes].

    conv(name, x) is a convolution; observe(name, x) sees what it makes, behind
    the relu if there is one, and may change it.
    """
    heads = {layer: number for number, layer, _ in MAPS}
    boxes, logits = [], []
    for name, _, _ in LAYERS:
        x = observe(name, torch.relu(conv(name, x)))
        if name not in heads:
            continue
        for kind, size, rows in (
            ("box", 4, boxes),
            ("class", len(CLASSES), logits),
        ):
            head = kind + heads[name]
            y = observe(head, conv(head, x)).permute(0, 2, 3, 1)
            rows.append(y.reshape(len(y), -1, size))
    return torch.cat(boxes, 1), torch.cat(logits, 1)


def folded_conv(params):
    """conv() for forward(), of what Ssd.folded() gives."""
    strides = {name: stride for name, _, stride in LAYERS}

    def conv(name, x):
        weight, bias = params[name]
        stride = strides.get(name, 1)
        return nn.functional.conv2d(x, weight, bias, stride, padding=1)

    return conv


def corners(boxes):
    """(y, x, h, w) to (ymin, xmin, ymax, xmax)."""
    half = boxes[..., 2:] / 2
    return torch.cat([boxes[..., :2] - half, boxes[..., :2] + half], -1)


def iou(a, b):
    """Of corner boxes [..., N, 4] and [..., M, 4]: [..., N, M]."""
    low = torch.maximum(a[..., :, None, :2], b[..., None, :, :2])
    high = torch.minimum(a[..., :, None, 2:], b[..., None, :, 2:])
    common = (high - low).clamp(min=0).prod(-1)
    area_a = (a[..., 2:] - a[..., :2]).prod(-1)
    area_b = (b[..., 2:] - b[..., :2]).prod(-1)
    union = area_a[..., :, None] + area_b[..., None, :] - common
    return common / union.clamp(min=1e-9)


def targets(boxes, labels, anchors):
    """What the anchors of pictures should say.

    boxes [B, G, 4] are (y, x, h, w), labels [B, G] are -1 in unused places.
    Returns the class of each anchor [B, N] (-1: nothing, -2: either way is
    right) and its encoding [B, N, 4].
    """
    overlaps = iou(corners(boxes), corners(anchors).expand(len(boxes), -1, -1))
    overlaps = overlaps.masked_fill((labels < 0)[..., None], -1)
    # An object's best anchor is its own, however small the overlap.
    best = overlaps.max(2, keepdim=True).values
    overlaps = torch.where((overlaps == best) & (best > 0), overlaps + 2, overlaps)
    most, owner = overlaps.max(1)
    classes = labels.gather(1, owner)
    classes = classes.masked_fill(most < 0.5, -2).masked_fill(most < 0.4, -1)
    own = boxes.gather(1, owner[..., None].expand(-1, -1, 4))
    middle = (own[..., :2] - anchors[:, :2]) / anchors[:, 2:]
    size = torch.log(own[..., 2:].clamp(min=1e-6) / anchors[:, 2:])
    encodings = torch.cat([middle, size], -1) * torch.tensor(BOX_SCALES)
    return classes, encodings


def loss(encodings, logits, classes, wanted):
    """Focal loss of the classes and smooth L1 of the boxes, per object."""
    found = classes >= 0
    hot = nn.functional.one_hot(classes.clamp(min=0), len(CLASSES))
    hot = (hot * found[..., None]).float()
    p = torch.sigmoid(logits)
    cross = nn.functional.binary_cross_entropy_with_logits(
        logits, hot, reduction="none"
    )
    weight = (hot * 0.3 + (1 - hot) * 0.7) * (p - hot).abs() ** 2
    class_loss = (weight * cross * (classes != -2)[..., None]).sum()
    box_loss = nn.functional.smooth_l1_loss(
        encodings[found], wanted[found], reduction="sum"
    )
    return (4 * class_loss + 0.5 * box_loss) / found.sum().clamp(min=1)
