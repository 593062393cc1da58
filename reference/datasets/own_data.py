"""Fixtures of a user's own data: arrays in .npz files, a folder of pictures, and pictures that are resized."""

import numpy as np
from PIL import Image

from expected import FOLDER, save_expected
from pictures import grid, must_differ, picture, pictures


def make_own():
    """Arrays without factors, with factors that are numbers, text or continuous; a grid lies in shuffled order."""
    smooth = np.linspace(0, 1, 12 * 20 * 24, dtype=np.float32).reshape(12, 20, 24) ** 2
    np.savez(FOLDER / "own.npz", images=must_differ(smooth))
    save_expected("own", smooth[..., None], np.zeros([12, 0], dtype=np.int64), [], [])

    images, factors = pictures(12, (16, 16, 3), 10), grid([3, 4])
    order = np.random.default_rng(11).permutation(12)
    names = np.array(["colour", "place"])
    np.savez_compressed(FOLDER / "own_factors.npz", images=images[order], factors=factors[order], factor_names=names)
    save_expected("own_factors", images, factors, names, [3, 4])

    images = pictures(12, (16, 16, 3), 12)
    words = [["blue", "green", "red"], ["bottom", "left", "right", "top"]]
    text = np.stack([np.array(words[i])[factors[:, i]] for i in range(2)], axis=1)
    np.savez_compressed(FOLDER / "own_text.npz", images=images[order], factors=text[order], factor_names=names)
    save_expected("own_text", images, factors, names, [3, 4], factor_values=text)

    images = pictures(12, (16, 16, 1), 13)
    values = np.random.default_rng(14).normal(size=[12, 2])
    np.savez_compressed(FOLDER / "own_continuous.npz", images=images, factors=values)
    save_expected("own_continuous", images, values, ["factor_0", "factor_1"], [0, 0])


def make_folder():
    """Twelve pictures in two folders, each in another format, a table of their factors and a file that is no picture."""
    folder = FOLDER / "folder"
    settings = {
        "dog/three.webp": {"lossless": True},
        "dog/four.tif": {"compression": "tiff_lzw"},
        # Decoders disagree about how colours stored at half resolution are spread over a sharp edge.
        "dog/five.jpeg": {"subsampling": "4:4:4", "quality": 95},
    }
    images = folder_pictures()
    for name, image in images.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        image.save(folder / name, **settings.get(name, {}))
    (folder / "notes.txt").write_text("This file is not a picture.\n")

    random = np.random.default_rng(15)
    names = sorted(images, key=str.encode)
    factors = np.stack([random.uniform(0, 90, 12).round(2), random.permutation(np.arange(12) % 3)], axis=1)
    rows = [f"{names[i]},{factors[i, 0]},{int(factors[i, 1])}" for i in random.permutation(12)]
    (folder / "factors.csv").write_text("\n".join(["file,angle,size", *rows]) + "\n")

    colours = [decoded(folder / name) for name in names]
    # Pillow clips 16-bit values to 255 instead of scaling them, so that picture is given from its bytes.
    colours[names.index("cat/four.png")] = np.repeat(drawn(3, 1), 3, axis=2)
    must_differ([image[..., 0] for image in colours])
    np.savez_compressed(
        FOLDER / "folder.expected.npz",
        names=np.array(names),
        classes=np.array([["cat", "dog"].index(name.split("/")[0]) for name in names]),
        class_names=np.array(["cat", "dog"]),
        factors=factors,
        factor_names=np.array(["angle", "size"]),
        factor_sizes=np.array([0, 3]),
        resized=np.stack([resized(image) for image in colours]),
        **{f"image_{number}": image for number, image in enumerate(colours)},
    )


def decoded(path):
    """What Pillow reads: [height, width, 3] bytes."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def folder_pictures():
    """The pictures of the folder by name, in the modes of Pillow that their files hold."""
    # The left half is opaque and the right half is not.
    opacity = np.tile(np.where(np.arange(20) < 10, 255, 100).astype(np.uint8), (20, 1))[..., None]
    return {
        "cat/one.png": Image.fromarray(drawn(0, 3)),
        "cat/two.png": Image.fromarray(np.concatenate([drawn(1, 3), opacity], axis=2)),
        "cat/three.png": Image.fromarray(drawn(2, 3, 24)).quantize(16, dither=Image.Dither.NONE),
        # 257 times a byte: to shift by 8 bits, to divide by 257 and to scale by 255/65535 all give that byte back.
        "cat/four.png": Image.fromarray(drawn(3, 1)[..., 0].astype(np.uint16) * 257),
        "cat/five.png": Image.fromarray(drawn(4, 1)[..., 0]).point(lambda value: 255 * (value > 110)).convert("1"),
        "cat/six.jpg": Image.fromarray(drawn(5, 1)[..., 0]),
        "dog/one.bmp": Image.fromarray(drawn(6, 3, 17, 23)),
        "dog/two.gif": Image.fromarray(drawn(7, 3)).quantize(64, dither=Image.Dither.NONE),
        "dog/three.webp": Image.fromarray(drawn(8, 3)),
        "dog/four.tif": Image.fromarray(drawn(9, 3)),
        "dog/five.jpeg": Image.fromarray(drawn(10, 3, 30, 25)),
        "dog/six.PNG": Image.fromarray(np.concatenate([drawn(11, 1), opacity], axis=2), "LA"),
    }


def drawn(number, channels, width=20, height=20):
    """The picture of the folder that has this number: [height, width, channels] bytes."""
    return picture((height, width, channels), 16, number)


def make_resized():
    """Pictures, smooth and of noise, and what Pillow's bilinear filter makes of them at 64x64."""
    noise = [(17, 29, 3), (20, 20, 3), (28, 28, 1), (96, 96, 1), (128, 128, 1), (218, 178, 1)]
    smooth = [(17, 29, 3), (20, 20, 3), (28, 28, 1), (96, 96, 1), (128, 128, 3), (218, 178, 3), (64, 100, 3)]
    images = [np.random.default_rng((17, i)).integers(0, 256, shape, dtype=np.uint8) for i, shape in enumerate(noise)]
    images += [picture(shape, 18, i) for i, shape in enumerate(smooth)]
    arrays = {f"in_{number}": image for number, image in enumerate(images)}
    arrays.update({f"out_{number}": resized(image) for number, image in enumerate(images)})
    np.savez_compressed(FOLDER / "resized.npz", **arrays)


def resized(image):
    """An image [height, width, 1 or 3] at 64x64."""
    plain = Image.fromarray(image[..., 0] if image.shape[2] == 1 else image)
    return np.asarray(plain.resize((64, 64), Image.Resampling.BILINEAR)).reshape(64, 64, image.shape[2])
