"""Pairs of dSprites images compared under mse and box-blurred mse: PyTorch as disent does it, and unbraid, in one run.

disent blurs by `torch.fft` (rfft2 of images and kernel, padded to the sum of both sizes, and back), compares pairs of a traversal that was drawn
at random, and reads each image from an array; here the array is in memory, so that no file slows it down.

    cargo build --release
    bench/.venv/bin/python bench/losses.py      # any Python with numpy and torch
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import torch

UNBRAID = pathlib.Path(__file__).parent.parent / "target/release/unbraid"
RADIUS, WEIGHT, N_PAIRS = 31, 3969.0, 64
SIZES = [3, 6, 40, 32, 32]


def fft_blur(images, kernel):
    """'Same' convolution of [n, 1, height, width] by FFT, as in disent's torch_conv2d_channel_wise_fft."""
    padded = [side + kernel.shape[-1] - 1 for side in images.shape[-2:]]
    spectrum = torch.fft.rfft2(images, s=padded) * torch.fft.rfft2(kernel, s=padded)
    full = torch.fft.irfft2(spectrum, s=padded)
    start = kernel.shape[-1] // 2
    return full[..., start:start + images.shape[-2], start:start + images.shape[-1]]


def torch_rate(images, blurred, seconds):
    """Pairs per second: 64 random pairs of each random traversal of pos_x, as disent's factored components draw them."""
    kernel = torch.ones(1, 1, 2 * RADIUS + 1, 2 * RADIUS + 1)
    kernel /= kernel.sum()
    rng, n_done, began = np.random.default_rng(1), 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        base = rng.integers(len(images) // 1024)
        rows = base * 1024 + np.arange(32) * 32 + rng.integers(32)
        batch = torch.stack([torch.from_numpy(images[row]).float().div(255)[None] for row in rows])
        a, b = batch[rng.integers(32, size=N_PAIRS)], batch[rng.integers(32, size=N_PAIRS)]
        distances = (a - b).square().mean(dim=(1, 2, 3))
        if blurred:
            distances += WEIGHT * (fft_blur(a, kernel) - fft_blur(b, kernel)).square().mean(dim=(1, 2, 3))
        n_done += len(distances)
    return n_done / (time.perf_counter() - began)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # One shape and a few scales and orientations are enough: pairs of images cost the same wherever they are from.
        numbers, file = pathlib.Path(folder) / "numbers.npy", pathlib.Path(folder) / "images.npz"
        np.save(numbers, np.arange(40 * 1024))
        subprocess.run([UNBRAID, "data", "export", "dsprites", file, "--indices", numbers], check=True, capture_output=True)
        archive = np.load(file)
        images = archive["images"].reshape(-1, 64, 64)
        images = (images * (255 if images.max() <= 1 else 1)).astype(np.uint8)
    print(f"{'pairs/s':12}{'torch':>12}{'unbraid':>14}{'ratio':>8}   seconds of 1,048,576")
    for _ in range(arguments.rounds):
        command = [UNBRAID, "bench", "losses", "--json", "--rounds", "0"]
        ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for name, blurred in [("mse", False), ("mse_box31", True)]:
            theirs = torch_rate(images, blurred, arguments.seconds)
            secs = ours["along_a_factor_secs"][name]
            rate = ours["pairs"] / secs
            print(f"{name:12}{theirs:>12,.0f}{rate:>14,.0f}{rate / theirs:>8.0f}   {secs:.2f}")


if __name__ == "__main__":
    main()
