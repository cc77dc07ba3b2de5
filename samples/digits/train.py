"""Trains and quantizes the network of the digits sample; writes data/.

Needs the packages of requirements.txt. Deterministic: fixed seed, one thread.
The held-out digits are used for nothing but the final count.
"""

import numpy as np
import sklearn
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

import evaluate
import tensor_file

SEED = 20240601
HELD_OUT = 450
EPOCHS = 120
BATCH = 32
INPUT_SCALE = 1.0 / 16  # pixels are 0..16, the network sees 0..1


def split_digits():
    """Pixels [N,1,8,8] and labels: (train, held out), stratified."""
    digits = load_digits()
    pixels = digits.images.astype(np.uint8)[:, None]
    labels = digits.target.astype(np.uint8)
    return train_test_split(
        pixels, labels, test_size=HELD_OUT, random_state=SEED, stratify=labels
    )


def make_network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(512, 64),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(64, 10),
    )


def distorted(images, rng):
    """Each image turned, scaled and shifted a little, at random."""
    n = len(images)
    angle = np.radians(rng.uniform(-10, 10, n))
    scale = rng.uniform(0.9, 1.1, n)
    shift = rng.uniform(-0.7, 0.7, (2, n)) * 2 / images.shape[-1]  # pixels
    cos, sin = scale * np.cos(angle), scale * np.sin(angle)
    rows = [[cos, -sin, shift[0]], [sin, cos, shift[1]]]
    matrices = torch.tensor(np.array(rows), dtype=torch.float32)
    grid = nn.functional.affine_grid(
        matrices.permute(2, 0, 1), images.shape, align_corners=False
    )
    return nn.functional.grid_sample(images, grid, align_corners=False)


def train(pixels, labels):
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    rng = np.random.default_rng(SEED)
    images = torch.tensor(pixels, dtype=torch.float32) * INPUT_SCALE
    targets = torch.tensor(labels, dtype=torch.int64)
    network = make_network()
    optimizer = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        for rows in np.array_split(order, len(images) // BATCH):
            logits = network(distorted(images[rows], rng))
            loss = nn.functional.cross_entropy(logits, targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        schedule.step()
    return network.eval()


def float_model(network):
    layers = [m for m in network if isinstance(m, (nn.Conv2d, nn.Linear))]
    model = {"input": tensor_file.Tensor("f32", INPUT_SCALE)}
    for (name, _), layer in zip(evaluate.LAYERS, layers):
        for part in ("weight", "bias"):
            array = getattr(layer, part).detach().numpy()
            model["%s.%s" % (name, part)] = tensor_file.Tensor(
                "f32", array=array
            )
        model[name] = tensor_file.Tensor("f32")
    return model


def uint8_range(values):
    """Type, scale and zero point that cover min..max and hold 0 exactly."""
    low, high = min(0.0, values.min()), max(0.0, values.max())
    scale = np.float32((float(high) - float(low)) / 255)
    return tensor_file.Tensor("u8", scale, round(-float(low) / float(scale)))


def quantize(model, pixels):
    """Post-training: activation ranges are those of the training images."""
    result = {"input": tensor_file.Tensor("u8", INPUT_SCALE)}
    ranges = {}

    def observe(name, x):
        ranges[name] = uint8_range(x)

    evaluate.run_float(model, pixels, observe)
    scale_in = result["input"].scale
    for name, _ in evaluate.LAYERS:
        weight = uint8_range(model[name + ".weight"].array)
        codes = np.rint(model[name + ".weight"].array / weight.scale)
        weight.array = np.clip(codes + weight.zero_point, 0, 255)
        bias = tensor_file.Tensor("i32", scale_in * weight.scale)
        bias.array = np.rint(model[name + ".bias"].array / bias.scale)
        result[name + ".weight"], result[name + ".bias"] = weight, bias
        result[name] = ranges[name]
        scale_in = ranges[name].scale
    return result


def main():
    train_pixels, test_pixels, train_labels, test_labels = split_digits()
    network = train(train_pixels, train_labels)
    model = float_model(network)
    evaluate.DATA.mkdir(exist_ok=True)
    tensor_file.save(evaluate.DATA / "lenet_f32.bin", model)
    tensor_file.save(
        evaluate.DATA / "lenet_u8.bin", quantize(model, train_pixels)
    )
    heldout = {
        "images": tensor_file.Tensor("u8", INPUT_SCALE, array=test_pixels),
        "labels": tensor_file.Tensor("u8", array=test_labels),
    }
    tensor_file.save(evaluate.DATA / "heldout.bin", heldout)
    print("torch", torch.__version__, "scikit-learn", sklearn.__version__)
    print("numpy", np.__version__, "seed", SEED)
    evaluate.evaluate()


if __name__ == "__main__":
    main()
