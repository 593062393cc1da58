"""Small pictures that compress well, no two of them alike and no two channels alike."""

import numpy as np


def grid(sizes):
    """Every combination of factor values, row-major with the first factor most significant: [n, factors]."""
    return np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1).astype(np.int64)


def picture(shape, *seed):
    """A ramp of brightness in steps, with a rectangle on it: [height, width, channels] bytes."""
    height, width, channels = shape
    random = np.random.default_rng(seed)
    rows = np.arange(height)[:, None, None] / height
    steps = np.arange(width)[None, :, None] * 8 // width / 8
    start, down, across = random.integers(40, 120, channels), random.integers(20, 70, channels), random.integers(10, 60)
    image = start + down * rows + across * steps
    top, left = random.integers(0, height // 2), random.integers(0, width // 2)
    tall, wide = random.integers(height // 4, height // 2), random.integers(width // 4, width // 2)
    image[top : top + tall, left : left + wide] = random.integers(0, 256, channels)
    return image.astype(np.uint8)


def pictures(n_images, shape, *seed):
    """`n_images` different pictures: [n, height, width, channels] bytes."""
    return must_differ(np.stack([picture(shape, *seed, number) for number in range(n_images)]))


def sprite(shape, scale, orientation, x, y):
    """A white square, ellipse or triangle, drawn flat from the values of the five factors of dSprites: [64, 64] of 0 and 1."""
    rows, columns = np.mgrid[0:64, 0:64]
    across, down = columns - 16 - 32 * x, rows - 16 - 32 * y
    turned = np.cos(orientation) * across + np.sin(orientation) * down, np.cos(orientation) * down - np.sin(orientation) * across
    u, v = turned[0] / (9.6 * scale), turned[1] / (9.6 * scale)
    inside = {1: np.maximum(abs(u), abs(v)) < 1, 2: np.hypot(u / 1.3, v * 1.3) < 1, 3: (abs(u) < (1 - v) / 2) & (v > -1)}
    return inside[int(shape)].astype(np.uint8)


def room(factors):
    """A floor, a wall and an object, drawn flat from the values of the six factors of 3D Shapes: [64, 64, 3] bytes."""
    floor_hue, wall_hue, object_hue, scale, shape, orientation = factors
    y, x = np.mgrid[0:64, 0:64]
    colours = [hue_to_colour(hue) for hue in (floor_hue, wall_hue, object_hue)]
    horizon = 38 + (x - 32) * orientation / 150
    image = np.where((y > horizon)[..., None], colours[0], colours[1])
    radius = 14 * scale
    inside_square = np.maximum(abs(x - 32), abs(y - 36)) < radius
    inside_disc = np.hypot(x - 32, y - 36) < radius
    image = np.where((inside_square if shape == 0 else inside_disc)[..., None], colours[2] * 0.8, image)
    # Steps of shade along both axes, so that a tile put in the wrong place shows.
    shade = 1 - 0.02 * (x // 8) - 0.03 * (y // 8)
    return (image * shade[..., None]).astype(np.uint8)


def hue_to_colour(hue):
    """A colour of full strength, from a hue in [0, 1): [3]."""
    return 255 * np.clip(abs((hue * 6 + np.array([0, 4, 2])) % 6 - 3) - 1, 0.05, 0.95)


def must_differ(images):
    """Gives the images back; stops where two are equal, or where two channels of one are."""
    assert len({image.tobytes() for image in images}) == len(images), "two images are equal"
    for image in images:
        if image.ndim == 3:
            channels = [image[..., channel].tobytes() for channel in range(image.shape[2])]
            assert len(set(channels)) == len(channels), "two channels are equal"
    return images
