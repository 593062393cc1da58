"""Principal components by scikit-learn, of images that unbraid exported.

It sees arrays of images and nothing else of unbraid. Each dataset is named with its settings, as the test opens it; of each there are the mean and
the first components at some positions, the share of the variance of each, and the variance of all.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import sklearn
from sklearn.decomposition import PCA

# The name, settings as `--set` takes them, and how many components are compared.
DATASETS = [
    ("synth_linear", [], 2),
    ("dsprites", ["size=32", "fix={ shape = 1, orientation = 5 }"], 4),
    ("xy_object", ["size=16", "subset={ count = 3000 }"], 4),
    ("xy_object", ["subset={ count = 600 }"], 4),
]
# Read from files; compared where they are at hand.
OUTSIDE = [("fashion_mnist", ["part='test'"], 4)]
POSITIONS = 64


def images_of(unbraid, folder, name, settings):
    path = Path(folder) / "images.npz"
    changes = [part for setting in settings for part in ("--set", setting)]
    subprocess.run([unbraid, "data", "export", name, str(path), *changes], check=True, stdout=subprocess.DEVNULL)
    images = numpy.load(path)["images"]
    scale = 255.0 if images.dtype == numpy.uint8 else 1.0
    return images.reshape(len(images), -1).astype(numpy.float64) / scale


def values_of(images, n_components):
    pca = PCA(n_components=n_components + 1, svd_solver="full").fit(images)
    gaps = 1 - pca.explained_variance_[1:] / pca.explained_variance_[:-1]
    # Of equal variances the components are anyone's choice.
    assert gaps.min() > 1e-3, gaps
    n_pixels = images.shape[1]
    positions = sorted({place * n_pixels // POSITIONS for place in range(POSITIONS)} | {int(abs(row).argmax()) for row in pca.components_[:-1]})
    return {
        "n_images": len(images),
        "positions": positions,
        "mean": pca.mean_[positions].tolist(),
        "components": pca.components_[:-1, positions].tolist(),
        "shares": pca.explained_variance_ratio_[:-1].tolist(),
        "total_variance": float(images.var(axis=0, ddof=1).sum()),
    }


def main():
    unbraid = sys.argv[1]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for is_outside, datasets in [(False, DATASETS), (True, OUTSIDE)]:
            for name, settings, n_components in datasets:
                images = images_of(unbraid, folder, name, settings)
                values = values_of(images, n_components)
                found.append({"dataset": name, "settings": settings, "outside": is_outside, **values})
                print(name, settings, images.shape, file=sys.stderr)
    print(f"numpy {numpy.__version__}, scikit-learn {sklearn.__version__}", file=sys.stderr)
    json.dump(found, sys.stdout, indent=1)
    print()


main()
