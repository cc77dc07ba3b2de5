"""Trains and quantizes the network of the detection sample; writes ../data/.

    python3 train.py DETECTION [--work FOLDER]

DETECTION is the sample's program: its --draw draws the pictures. Needs the
packages of requirements.txt. Deterministic: fixed seeds, one thread; other
versions or other processors may round differently. The held-out pictures that
`detection --evaluate` draws have another seed.
"""

import argparse
import json
import pathlib
import subprocess
import time

import numpy as np
import PIL.Image
import torch

import evaluate
import model_file
import quantize
import ssd

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
SEED = 20251125
PICTURE_SEED, PICTURES = 1, 12000
VALIDATION_SEED, VALIDATION = 2, 400
MOST_OBJECTS = 5
BATCH = 32
EPOCHS = 25
RATE = 4e-3
CALIBRATION = 500  # pictures


def draw(program, folder, seed, count):
    """Pictures [B, 3, E, E], boxes [B, 5, 4] (y, x, h, w), labels [B, 5]."""
    subprocess.run(
        [program, "--draw", folder, "--seed", str(seed), "--count", str(count)]
        + ["--square", str(ssd.EXTENT)],
        check=True,
    )
    listed = json.loads((folder / "boxes.json").read_text())
    images = np.stack(
        [np.asarray(PIL.Image.open(folder / entry["image"])) for entry in listed]
    )
    boxes = np.zeros((len(listed), MOST_OBJECTS, 4), np.float32)
    labels = np.full((len(listed), MOST_OBJECTS), -1)
    for i, entry in enumerate(listed):
        for k, found in enumerate(entry["objects"]):
            xmin, ymin, xmax, ymax = found["box"]
            middle = (ymin + ymax) / 2, (xmin + xmax) / 2
            boxes[i, k] = (*middle, ymax - ymin, xmax - xmin)
            labels[i, k] = ssd.CLASSES.index(found["class"])
    images = torch.from_numpy(images).permute(0, 3, 1, 2).contiguous()
    boxes /= ssd.EXTENT
    return images, torch.from_numpy(boxes), torch.from_numpy(labels)


def varied(images, boxes, rng):
    """A batch turned and mirrored in one of eight ways, its colours swapped."""
    images, boxes = images[:, rng.permutation(3)].float() / 255, boxes.clone()
    if rng.random() < 0.5:
        images, boxes = images.transpose(2, 3), boxes[..., [1, 0, 3, 2]]
    for axis in (0, 1):
        if rng.random() < 0.5:
            images = images.flip(2 + axis)
            boxes[..., axis] = 1 - boxes[..., axis]
    return images.contiguous(memory_format=torch.channels_last), boxes


def train(pictures, rng):
    images, boxes, labels = pictures
    anchors = torch.from_numpy(ssd.make_anchors())
    network = ssd.Ssd().to(memory_format=torch.channels_last)
    steps = len(images) // BATCH
    optimizer = torch.optim.AdamW(network.parameters(), RATE, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, RATE, total_steps=EPOCHS * steps, pct_start=0.15
    )
    start = time.monotonic()
    for epoch in range(EPOCHS):
        total = 0.0
        for rows in np.array_split(rng.permutation(len(images)), steps):
            x, wanted = varied(images[rows], boxes[rows], rng)
            goals = ssd.targets(wanted, labels[rows], anchors)
            loss = ssd.loss(*network(x), *goals)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += float(loss.detach()) / steps
        seconds = time.monotonic() - start
        print("epoch %d: loss %.4f, %.0f s" % (epoch, total, seconds), flush=True)
    return network.eval().folded()


def validate(name, forward, scores, pictures):
    images, boxes, labels = pictures
    with torch.no_grad():
        encodings, logits = forward(images.float() / 255)
        result = evaluate.mean_average_precision(
            encodings, scores(logits), boxes, labels
        )
    print("mAP@0.5 %s = %.3f, validation pictures" % (name, result), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="the sample's program, detection")
    parser.add_argument("--work", type=pathlib.Path, default="/tmp/detection")
    arguments = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    rng = np.random.default_rng(SEED)
    arguments.work.mkdir(parents=True, exist_ok=True)
    sets = [
        draw(arguments.program, arguments.work / name, seed, count)
        for name, seed, count in (
            ("training", PICTURE_SEED, PICTURES),
            ("validation", VALIDATION_SEED, VALIDATION),
        )
    ]
    params = train(sets[0], rng)
    ranges = quantize.calibrate(params, sets[0][0][:CALIBRATION].float() / 255)
    validate("float32", lambda x: ssd.forward(ssd.folded_conv(params), x),
             torch.sigmoid, sets[1])
    validate("uint8", lambda x: quantize.quantized_forward(params, ranges, x),
             quantize.quantized_scores, sets[1])
    DATA.mkdir(exist_ok=True)
    model_file.save_float(DATA / "ssd_f32.bin", params)
    model_file.save_uint8(DATA / "ssd_u8.bin", params, ranges)
    print("torch", torch.__version__, "numpy", np.__version__, "seed", SEED)


if __name__ == "__main__":
    main()
