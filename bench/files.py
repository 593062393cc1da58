"""Random images of HDF5 files and of folders of PNG files, read by h5py and Pillow and by unbraid, alternately, on one thread.

    python3 bench/files.py [--rounds 3] [--images 20000] [--unbraid target/release/unbraid]

Makes the files in a temporary folder: images of `shapes3d_made`, as a 3dshapes-like HDF5 file with one image a chunk, as one in the
tiles that h5py chooses by itself, and as PNG files. Python reads batches of 64 random images into an array of floats, as a
training would; `unbraid bench data` loads such batches by one thread. Needs numpy, h5py and Pillow.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
from PIL import Image

BATCH = 64


def make(folder, unbraid, n_images):
    """The files: by name the dataset that reads them, their path, and a function that reads a batch in Python."""
    rng = np.random.default_rng(1)
    numbers, exported = folder / "numbers.npy", folder / "images.npz"
    np.save(numbers, np.sort(rng.choice(480_000, n_images, replace=False)))
    subprocess.run([unbraid, "data", "export", "shapes3d_made", exported, "--indices", numbers], check=True, stdout=subprocess.DEVNULL)
    images = np.load(exported)["images"]
    sizes = [10, 10, 10, 2, 2, n_images // 4000]
    labels = np.stack(np.unravel_index(np.arange(n_images), sizes), axis=1).astype(float)
    for name, chunks in [("rows", (1, 64, 64, 3)), ("tiles", True)]:
        with h5py.File(folder / f"{name}.h5", "w") as file:
            file.create_dataset("images", data=images, chunks=chunks, compression="gzip", compression_opts=4)
            file.create_dataset("labels", data=labels)
    pictures = folder / "png"
    pictures.mkdir()
    for number, image in enumerate(images):
        Image.fromarray(image).save(pictures / f"{number:06}.png")
    return n_images


def h5py_rate(path, n_images, seconds):
    """Images per second of random batches, image by image: a list of rows would take h5py many times as long."""
    rng = np.random.default_rng(2)
    with h5py.File(path) as file:
        images, began, n_read = file["images"], time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            rows = rng.choice(n_images, BATCH, replace=False)
            batch = np.stack([images[row] for row in rows]).astype(np.float32) / 255
            n_read += len(batch)
        return n_read / (time.perf_counter() - began)


def pillow_rate(folder, n_images, seconds):
    rng = np.random.default_rng(2)
    began, n_read = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        for number in rng.choice(n_images, BATCH, replace=False):
            image = np.asarray(Image.open(folder / f"{number:06}.png"), np.float32) / 255
            n_read += len(image) > 0
    return n_read / (time.perf_counter() - began)


def our_rates(unbraid, dataset, path, seconds):
    command = [unbraid, "bench", "data", dataset, "--set", f"path={path}", "--json", "--seconds", str(seconds)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)[dataset]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--images", type=int, default=20_000, help="a multiple of 4000")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--unbraid", default=str(Path(__file__).parent.parent / "target/release/unbraid"))
    arguments = parser.parse_args()
    seconds = arguments.seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        n_images = make(folder, arguments.unbraid, arguments.images)
        cases = {
            "HDF5, an image a chunk": ("shapes3d", folder / "rows.h5", lambda: h5py_rate(folder / "rows.h5", n_images, seconds)),
            "HDF5, tiles of h5py": ("shapes3d", folder / "tiles.h5", lambda: h5py_rate(folder / "tiles.h5", n_images, seconds)),
            "PNG files": ("folder", folder / "png", lambda: pillow_rate(folder / "png", n_images, seconds)),
        }
        print(f"{'images/s':26}{'Python':>10}{'unbraid':>10}{'ratio':>8}{'over training':>16}")
        for case, (dataset, path, python_rate) in cases.items():
            rounds = [(python_rate(), our_rates(arguments.unbraid, dataset, path, seconds)) for _ in range(arguments.rounds)]
            python = float(np.median([rate for rate, _ in rounds]))
            ours = float(np.median([rates["loaded"] for _, rates in rounds]))
            over_training = float(np.median([rates["ratio"] for _, rates in rounds]))
            print(f"{case:26}{python:>10.0f}{ours:>10.0f}{ours / python:>8.1f}{over_training:>16.1f}")


main()
