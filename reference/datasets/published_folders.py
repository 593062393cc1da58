"""Fixtures in the formats of datasets that are published as files of pictures or bytes: Falcor3D, Isaac3D, CelebA, MNIST."""

import numpy as np
from PIL import Image

from expected import FOLDER, save_expected
from pictures import grid, must_differ, pictures
from published_arrays import write_gzip

FALCOR3D = {
    "lighting_intensity": 2,
    "lighting_x": 2,
    "lighting_y": 2,
    "lighting_z": 1,
    "camera_x": 1,
    "camera_y": 2,
    "camera_z": 1,
}
# The order of the numbers in the published files, see README.md.
ISAAC3D = {
    "object_shape": 2,
    "robot_x": 1,
    "robot_y": 2,
    "camera_height": 2,
    "object_scale": 1,
    "lighting_intensity": 1,
    "lighting_y": 1,
    "object_color": 1,
    "wall_color": 2,
}
CELEBA_NAMES = (
    "5_o_Clock_Shadow Arched_Eyebrows Attractive Bags_Under_Eyes Bald Bangs Big_Lips Big_Nose Black_Hair Blond_Hair "
    "Blurry Brown_Hair Bushy_Eyebrows Chubby Double_Chin Eyeglasses Goatee Gray_Hair Heavy_Makeup High_Cheekbones Male "
    "Mouth_Slightly_Open Mustache Narrow_Eyes No_Beard Oval_Face Pale_Skin Pointy_Nose Receding_Hairline Rosy_Cheeks "
    "Sideburns Smiling Straight_Hair Wavy_Hair Wearing_Earrings Wearing_Hat Wearing_Lipstick Wearing_Necklace "
    "Wearing_Necktie Young"
).split()


def make_numbered(name, factors, labels_file, seed):
    """A folder `images` of PNG files numbered from 000000, and the file of labels that lies beside it."""
    folder = FOLDER / name / "images"
    folder.mkdir(parents=True, exist_ok=True)
    sizes = list(factors.values())
    images = pictures(np.prod(sizes), (16, 16, 3), seed)
    for number, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{number:06}.png", optimize=True)
    rows = grid(sizes)
    with open(FOLDER / name / labels_file, "wb") as file:
        np.save(file, (rows / np.maximum(np.array(sizes) - 1, 1)).astype(np.float32))
    save_expected(name, images, rows, list(factors), sizes)


def make_celeba():
    """Twelve JPEG files and their 40 attributes; the images are what Pillow decodes."""
    folder = FOLDER / "celeba" / "img_align_celeba"
    folder.mkdir(parents=True, exist_ok=True)
    factors = np.random.default_rng(7).integers(0, 2, [12, 40])
    names = [f"{number:06}.jpg" for number in range(1, 13)]
    # The published file has a blank after the last name, and pads the positive numbers to the width of the negative.
    lines = ["12", " ".join(CELEBA_NAMES) + " "]
    lines += [name + "".join(f"{2 * value - 1:3}" for value in row) for name, row in zip(names, factors)]
    (FOLDER / "celeba" / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
    for number, name in enumerate(names):
        # One with colours at full resolution and one progressive, which a reader may meet elsewhere.
        settings = {3: {"subsampling": "4:4:4"}, 4: {"progressive": True}}.get(number, {})
        Image.fromarray(face(number)).save(folder / name, quality=90, optimize=True, **settings)
    images = must_differ(np.stack([np.asarray(Image.open(folder / name).convert("RGB")) for name in names]))
    save_expected("celeba", images, factors, CELEBA_NAMES, [2] * 40)


def face(number):
    """A vertical ramp of colour with a grey oval, smooth enough that JPEG decoders agree: [218, 178, 3] bytes."""
    random = np.random.default_rng((8, number))
    start, end = random.integers(30, 220, [2, 3])
    y, x = np.mgrid[0:218, 0:178]
    image = start + (end - start) * (y / 217)[..., None]
    oval = np.hypot((x - random.integers(60, 120)) / 40, (y - random.integers(80, 140)) / 55) < 1
    return np.where(oval[..., None], image + random.integers(10, 30), image).astype(np.uint8)


def make_mnist():
    """Both splits as gzipped idx files, and the training split also as it is after unpacking."""
    (FOLDER / "mnist_raw").mkdir(exist_ok=True)
    for seed, (part, name, n_images) in enumerate([("train", "mnist_train", 20), ("t10k", "mnist_test", 10)]):
        images = pictures(n_images, (28, 28, 1), 9, seed)
        digits = np.random.default_rng(90 + seed).permutation(np.arange(n_images) % 10).astype(np.uint8)
        files = {
            f"{part}-images-idx3-ubyte": np.array([0x803, n_images, 28, 28], dtype=">i4").tobytes() + images.tobytes(),
            f"{part}-labels-idx1-ubyte": np.array([0x801, n_images], dtype=">i4").tobytes() + digits.tobytes(),
        }
        for file_name, data in files.items():
            write_gzip(FOLDER / "mnist" / f"{file_name}.gz", data)
            if part == "train":
                (FOLDER / "mnist_raw" / file_name).write_bytes(data)
        save_expected(name, images, digits[:, None].astype(np.int64), ["digit"], [10])
