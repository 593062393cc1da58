"""Times training and encoding in PyTorch, for train.py: prints one JSON object, images per second by case.

The work is what `unbraid bench train` does: a step of a beta-VAE on the conv64 network or the MLP, or the encoder
alone, on one batch of random images that stays in memory. A case is named by what it runs, as in `conv.b64.c3`: the
network, then `b` and the batch size (256 if left out), then `c` and the image's channels (1 if left out).
"""

import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.nn.functional import mse_loss

SIDE = 64
LATENTS = 10
BETA = 4.0
LEARNING_RATE = 1e-4
WARM_UP_STEPS = 3
LEAST_STEPS = 5


def main():
    arguments = parse_arguments()
    torch.manual_seed(0)
    torch.set_num_threads(arguments.threads)
    rates = {case: images_per_second(case, arguments) for case in arguments.cases.split(",")}
    print(json.dumps({"torch": torch.__version__, "rates": rates}))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", required=True, help="names with commas between")
    parser.add_argument("--seconds", type=float, required=True, help="how long each case is timed")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--channels-last", action="store_true", help="keep images and weights as NHWC")
    parser.add_argument("--fused-adam", action="store_true", help="change all parameters in one kernel")
    return parser.parse_args()


def images_per_second(case, arguments):
    """Batch size over the median time of a step."""
    network, *sizes = case.split(".")
    sizes = {size[0]: int(size[1:]) for size in sizes}
    batch, channels = sizes.get("b", 256), sizes.get("c", 1)
    encoder, decoder = mlp() if network == "mlp" else conv64(channels)
    images = torch.rand(batch, channels, SIDE, SIDE)
    if network == "mlp":
        images = images.flatten(1)
    elif arguments.channels_last:
        encoder, decoder = (half.to(memory_format=torch.channels_last) for half in (encoder, decoder))
        images = images.to(memory_format=torch.channels_last)
    if network == "encode":
        step = encoding_step(encoder, images)
    else:
        step = training_step(encoder, decoder, images, arguments.fused_adam)
    return batch / median_seconds(step, arguments.seconds)


def conv64(channels):
    """The two halves of the convolutional network for images [batch, channels, 64, 64]."""
    encoder = nn.Sequential(
        nn.Conv2d(channels, 32, 4, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(32, 32, 4, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(64, 64, 4, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(),
        nn.Linear(1024, 256), nn.ReLU(),
        nn.Linear(256, 2 * LATENTS),
    )
    decoder = nn.Sequential(
        nn.Linear(LATENTS, 256), nn.ReLU(),
        nn.Linear(256, 1024), nn.ReLU(),
        nn.Unflatten(1, (64, 4, 4)),
        nn.ConvTranspose2d(64, 64, 4, stride=2, padding=1), nn.ReLU(),
        nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.ReLU(),
        nn.ConvTranspose2d(32, 32, 4, stride=2, padding=1), nn.ReLU(),
        nn.ConvTranspose2d(32, channels, 4, stride=2, padding=1),
    )
    return encoder, decoder


def mlp():
    """The two halves of the fully connected network for images [batch, 4096]."""
    encoder = nn.Sequential(
        nn.Linear(SIDE * SIDE, 1200), nn.ReLU(),
        nn.Linear(1200, 1200), nn.ReLU(),
        nn.Linear(1200, 2 * LATENTS),
    )
    decoder = nn.Sequential(
        nn.Linear(LATENTS, 1200), nn.ReLU(),
        nn.Linear(1200, 1200), nn.ReLU(),
        nn.Linear(1200, SIDE * SIDE),
    )
    return encoder, decoder


def encoding_step(encoder, images):
    """A function that encodes the batch once."""

    @torch.inference_mode()
    def step():
        encoder(images)

    return step


def training_step(encoder, decoder, images, fused):
    """A function that takes one step of a beta-VAE on the batch and gives the two parts of its loss."""
    parameters = [*encoder.parameters(), *decoder.parameters()]
    # Left alone (None), torch chooses among its implementations.
    optimiser = torch.optim.Adam(parameters, lr=LEARNING_RATE, fused=True if fused else None)

    def step():
        optimiser.zero_grad(set_to_none=True)
        mean, log_variance = encoder(images).chunk(2, dim=1)  # [batch, latents] each
        latents = mean + (0.5 * log_variance).exp() * torch.randn(mean.shape)
        reconstruction = mse_loss(decoder(latents), images, reduction="sum") / len(images)
        kl = (0.5 * (mean.square() + log_variance.exp() - log_variance - 1.0)).sum(dim=1).mean()
        (reconstruction + BETA * kl).backward()
        optimiser.step()
        return reconstruction.item(), kl.item()

    return step


def median_seconds(step, seconds):
    """The median time of a step, over steps that take so many seconds together."""
    for _ in range(WARM_UP_STEPS):
        step()
    times = []
    began = time.perf_counter()
    while len(times) < LEAST_STEPS or time.perf_counter() - began < seconds:
        before = time.perf_counter()
        step()
        times.append(time.perf_counter() - before)
    return statistics.median(times)


if __name__ == "__main__":
    main()
