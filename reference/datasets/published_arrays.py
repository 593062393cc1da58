"""Fixtures in the formats of datasets that are published as arrays: dSprites, 3D Shapes, Cars3D, SmallNORB, MPI3D."""

import gzip

import h5py
import numpy as np
from scipy.io import savemat

from expected import FOLDER, save_expected
from pictures import grid, must_differ, pictures, room, sprite

MPI3D_FACTORS = [
    "object_color",
    "object_shape",
    "object_size",
    "camera_height",
    "background_color",
    "horizontal_axis",
    "vertical_axis",
]


def make_dsprites():
    """108 white sprites, as the published .npz and as the published .hdf5."""
    factors = grid([3, 2, 2, 3, 3])
    # The colour, of which there is one, comes first in the published file.
    classes = np.insert(factors, 0, 0, axis=1)
    possible = [
        np.array([1.0, 2.0, 3.0]),
        np.array([0.6, 0.9]),
        np.linspace(0, 2 * np.pi, 40)[[0, 12]],
        np.linspace(0, 1, 32)[[4, 16, 26]],
        np.linspace(0, 1, 32)[[4, 16, 26]],
    ]
    values = np.stack([np.ones(len(factors)), *(possible[i][factors[:, i]] for i in range(5))], axis=1)
    images = must_differ(np.stack([sprite(*row[1:]) for row in values]))
    metadata = {
        "title": "dSprites dataset",
        "version": 1,
        "latents_names": ("color", "shape", "scale", "orientation", "posX", "posY"),
        "latents_sizes": np.array([1, 3, 2, 2, 3, 3]),
    }
    np.savez_compressed(
        FOLDER / "dsprites.npz", metadata=metadata, imgs=images, latents_classes=classes, latents_values=values
    )
    with h5py.File(FOLDER / "dsprites.hdf5", "w") as file:
        # The published tiles are (23040, 2, 4): many images, few pixels of each. 25 does not divide 108.
        file.create_dataset("imgs", data=images, chunks=(25, 4, 8), compression="gzip")
        file.create_dataset("latents/classes", data=classes, compression="gzip")
        file.create_dataset("latents/values", data=values, compression="gzip")
    names = ["shape", "scale", "orientation", "pos_x", "pos_y"]
    save_expected("dsprites", images[..., None] * np.uint8(255), factors, names, [3, 2, 2, 3, 3])


def make_shapes3d():
    """64 rooms, in the awkward tiles of HDF5, one image a tile in the newest format, and plain."""
    names = ["floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation"]
    sizes = [2] * 6
    possible = [
        np.arange(10)[[1, 6]] / 10,
        np.arange(10)[[3, 7]] / 10,
        np.arange(10)[[0, 5]] / 10,
        np.linspace(0.75, 1.25, 8)[[0, 7]],
        np.arange(4.0)[[0, 2]],
        np.linspace(-30, 30, 15)[[2, 12]],
    ]
    factors = grid(sizes)
    labels = np.stack([possible[i][factors[:, i]] for i in range(6)], axis=1)
    images = must_differ(np.stack([room(values) for values in labels]))
    small = must_differ(np.ascontiguousarray(images[:, 2::4, 2::4]))
    with h5py.File(FOLDER / "shapes3d.h5", "w") as file:
        file.create_dataset("images", data=images, chunks=(8, 16, 16, 1), compression="gzip", shuffle=True)
        file.create_dataset("labels", data=labels)
    with h5py.File(FOLDER / "shapes3d_rows.h5", "w", libver="latest") as file:
        file.create_dataset("images", data=images, chunks=(1, 64, 64, 3), compression="gzip", compression_opts=4)
        file.create_dataset("labels", data=labels)
    with h5py.File(FOLDER / "shapes3d_plain.h5", "w") as file:
        file.create_dataset("images", data=small)
        file.create_dataset("labels", data=labels)
    save_expected("shapes3d", images, factors, names, sizes, factor_values=labels)
    save_expected("shapes3d_plain", small, factors, names, sizes, factor_values=labels)


def make_cars3d():
    """Three cars as MATLAB files; their order is that of list.txt and not that of their names."""
    folder = FOLDER / "cars3d"
    folder.mkdir(exist_ok=True)
    names = ["car_002_mesh", "car_010_mesh", "car_001_mesh"]
    (folder / "list.txt").write_text("".join(f"{name}\n" for name in names))
    # [cars, azimuths, elevations, height, width, channels] -> [cars, height, width, channels, azimuths, elevations]
    cars = pictures(3 * 6 * 4, (16, 16, 3), 3).reshape(3, 6, 4, 16, 16, 3).transpose(0, 3, 4, 5, 1, 2)
    for number, (name, car) in enumerate(zip(names, cars)):
        arrays = {"im": car, "mask": (car.max(axis=2) > 127).astype(np.uint8)}
        if number == 1:
            arrays = dict(reversed(arrays.items()))
        path = folder / f"{name}.mat"
        savemat(path, arrays, do_compression=number > 0)
        # The first 116 bytes are text with the time of day, by which the same files would differ from run to run.
        text = b"MATLAB 5.0 MAT-file Platform: posix, Created on: Thu Jan  1 00:00:00 1970".ljust(116)
        path.write_bytes(text + path.read_bytes()[116:])
    images = cars.transpose(5, 4, 0, 1, 2, 3).reshape(-1, 16, 16, 3)
    save_expected("cars3d", images, grid([4, 6, 3]), ["elevation", "azimuth", "object_type"], [4, 6, 3])


def make_smallnorb():
    """Both splits as binary matrices, their rows in random order, each image from a left and a right camera."""
    for number, (part, digits, instances) in enumerate([("training", "46789", [4, 6]), ("testing", "01235", [0, 1])]):
        sizes = [2, 2, 2, 3, 2]
        factors = grid(sizes)
        pairs = pictures(2 * len(factors), (12, 12, 1), 4, number).reshape(-1, 2, 12, 12)
        order = np.random.default_rng(40 + number).permutation(len(factors))
        stored = factors * [1, 1, 1, 2, 1]
        stored[:, 1] = np.array(instances)[factors[:, 1]]
        stem = f"smallnorb-5x{digits}x9x18x6x2x96x96-{part}"
        write_matrix(f"{stem}-dat.mat.gz", 0x1E3D4C55, pairs[order])
        write_matrix(f"{stem}-cat.mat.gz", 0x1E3D4C54, stored[order, 0].astype("<i4"))
        write_matrix(f"{stem}-info.mat.gz", 0x1E3D4C54, stored[order, 1:].astype("<i4"))
        save_expected(
            "smallnorb_train" if part == "training" else "smallnorb_test",
            pairs[:, 0, :, :, None],
            factors,
            ["category", "instance", "elevation", "rotation", "lighting"],
            sizes,
            factor_values=stored,
        )


def write_matrix(name, magic, values):
    """The binary matrix format of NORB: at least three sizes are stored, padded by 1."""
    sizes = list(values.shape) + [1] * (3 - values.ndim)
    header = np.array([magic, values.ndim, *sizes], dtype="<i4")
    write_gzip(FOLDER / "smallnorb" / name, header.tobytes() + values.tobytes())


def write_gzip(path, data):
    """A gzip file without the time of day."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(data, mtime=0))


def make_mpi3d():
    """The same 72 images stored and compressed."""
    sizes = [2, 2, 1, 1, 2, 3, 3]
    images = pictures(72, (16, 16, 3), 5)
    np.savez(FOLDER / "mpi3d.npz", images=images)
    np.savez_compressed(FOLDER / "mpi3d_compressed.npz", images=images)
    save_expected("mpi3d", images, grid(sizes), MPI3D_FACTORS, sizes)
