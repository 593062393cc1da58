"""What a reader must give back for a fixture, kept beside it as NAME.expected.npz."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent


def save_expected(name, images, factors, factor_names, factor_sizes, **more):
    """Images [n, height, width, channels] in row-major order of the factors, factors [n, factors], and statistics."""
    assert images.ndim == 4 and len(images) == len(factors), name
    assert factors.shape[1] == len(factor_names) == len(factor_sizes), name
    np.savez_compressed(
        FOLDER / f"{name}.expected.npz",
        images=images,
        factors=factors,
        factor_names=np.array(factor_names, dtype=str),
        factor_sizes=np.array(factor_sizes, dtype=np.int64),
        **statistics(images),
        **more,
    )


def statistics(images):
    """Mean and deviations per channel of 32-bit pixels in [0, 1], summed in 64 bits."""
    pixels = images if images.dtype == np.float32 else images.astype(np.float32) / np.float32(255)
    pixels = pixels.astype(np.float64)
    return {
        "mean": pixels.mean(axis=(0, 1, 2)),
        "std": pixels.std(axis=(0, 1, 2)),
        "mean_image_std": pixels.std(axis=(1, 2), ddof=1).mean(axis=0),
    }
