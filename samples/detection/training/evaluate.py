"""mAP@0.5 in NumPy: what training reaches, without TIM-CL."""

import numpy as np
import torch

import ssd

SCORE_THRESHOLD = 0.05
IOU_THRESHOLD = 0.5
MAX_DETECTIONS = 20


def decode(encodings, anchors):
    """(ymin, xmin, ymax, xmax) as DetectionPostProcess computes them."""
    e = encodings / torch.tensor(ssd.BOX_SCALES)
    middle = e[..., :2] * anchors[:, 2:] + anchors[:, :2]
    size = torch.exp(e[..., 2:]) * anchors[:, 2:]
    return ssd.corners(torch.cat([middle, size], -1))


def detections(boxes, scores):
    """Fast non-maximum suppression of one picture: [(class, score, box)]."""
    best, classes = scores.max(1)
    order = torch.argsort(best, descending=True, stable=True)
    order = order[best[order] >= SCORE_THRESHOLD]
    overlaps = ssd.iou(boxes[order], boxes[order]) > IOU_THRESHOLD
    alive = np.ones(len(order), bool)
    found = []
    for i, anchor in enumerate(order.tolist()):
        if alive[i] and len(found) < MAX_DETECTIONS:
            found.append((int(classes[anchor]), float(best[anchor]), boxes[anchor]))
            alive &= ~overlaps[i].numpy()
    return found


def average_precision(hits, objects):
    """hits: (score, whether right) of one class; area under the envelope."""
    if not objects:
        return 0.0
    right = np.array([hit for _, hit in sorted(hits, key=lambda h: -h[0])], float)
    recall = np.cumsum(right) / objects
    precision = np.cumsum(right) / (np.arange(len(right)) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    return float((np.diff(recall, prepend=0.0) * envelope).sum())


def mean_average_precision(encodings, scores, boxes, labels):
    """Of pictures; boxes [B, G, 4] are (y, x, h, w), labels -1 where unused."""
    anchors = torch.from_numpy(ssd.make_anchors())
    decoded = decode(encodings, anchors)
    hits = [[] for _ in ssd.CLASSES]
    for i in range(len(labels)):
        wanted = ssd.corners(boxes[i])
        free = labels[i].clone()
        for class_id, score, box in detections(decoded[i], scores[i]):
            overlap = ssd.iou(box[None], wanted)[0]
            overlap = overlap.masked_fill(free != class_id, -1)
            best = int(overlap.argmax())
            hit = bool(overlap[best] >= IOU_THRESHOLD)
            if hit:
                free[best] = -1
            hits[class_id].append((score, hit))
    counts = [int((labels == c).sum()) for c in range(len(ssd.CLASSES))]
    return float(
        np.mean([average_precision(h, n) for h, n in zip(hits, counts)])
    )
