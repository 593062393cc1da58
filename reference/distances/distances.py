"""Perceived distances, soft ranks and learnt kernels, computed from the papers with numpy and scipy.

T1 is the thesis that defines XYSquares, XYObject, the loss with a blur and the learnt loss.
T4 is the thesis whose equations 3.18 to 3.22 have the example of a precision budget.
"""

import functools
import itertools
import json

import numpy
from scipy import optimize, signal, stats

# ---------------------------------------------------------------------------------------------- images and kernels


def formula_image(number, shape):
    """Image `number`: numbers in the order of rows, columns, channels, each a multiple of 1/101."""
    positions = numpy.arange(numpy.prod(shape))
    return (((positions * 37 + number * 53 + 11) % 101) / 101).reshape(shape)


def box_line(radius):
    """One line of the box blur; the outer product with itself has all taps 1 / (2 r + 1)^2 (T1 3.4.1)."""
    return numpy.full(2 * radius + 1, 1 / (2 * radius + 1))


def gaussian_line(radius):
    """One line of the Gaussian blur, sigma = r / 4, that sums to 1 (T1 6.1.3)."""
    offsets = numpy.arange(-radius, radius + 1)
    taps = numpy.exp(-0.5 * (offsets / (radius / 4)) ** 2)
    return taps / taps.sum()


def asymmetric_kernel(radius):
    """Kernels without any symmetry, which tell a convolution from a correlation."""
    taps = numpy.arange((2 * radius + 1) ** 2)
    if radius == 1:
        taps = ((taps * 5 + 3) % 7) * 0.2 - 0.5
    else:
        taps = ((taps * 11 + 2) % 13) * 0.1 - 0.4
    return taps.reshape(2 * radius + 1, -1)


def convolution_matrix(kernel, height, width):
    """The matrix of a convolution with zeros beyond the edges: (K * x)[p] = sum over q of K[p - q] x[q]."""
    radius = kernel.shape[0] // 2
    rows = numpy.arange(height)[:, None, None, None] - numpy.arange(height)[None, None, :, None] + radius
    columns = numpy.arange(width)[None, :, None, None] - numpy.arange(width)[None, None, None, :] + radius
    rows, columns = numpy.broadcast_arrays(rows, columns)
    size = kernel.shape[0]
    inside = (rows >= 0) & (rows < size) & (columns >= 0) & (columns < size)
    taps = kernel[numpy.clip(rows, 0, size - 1), numpy.clip(columns, 0, size - 1)]
    return numpy.where(inside, taps, 0.0).reshape(height * width, height * width)


def line_matrix(line, length):
    """The same for one dimension; a separable kernel acts as line_matrix @ image @ line_matrix.T."""
    radius = len(line) // 2
    offsets = numpy.arange(length)[:, None] - numpy.arange(length)[None, :] + radius
    inside = (offsets >= 0) & (offsets < len(line))
    return numpy.where(inside, line[numpy.clip(offsets, 0, len(line) - 1)], 0.0)


# ---------------------------------------------------------------------------------------------- 1. losses


def loss_of(output, target, kernel, weight):
    """T1 equation 3.8, as a sum over all numbers of an image; the blur is scipy's, on each channel."""
    def blur(image):
        channels = [signal.convolve2d(image[:, :, c], kernel, mode="full") for c in range(image.shape[2])]
        radius = kernel.shape[0] // 2
        return numpy.stack(channels, axis=2)[radius:radius + image.shape[0], radius:radius + image.shape[1]]
    return ((output - target) ** 2).sum() + weight * ((blur(output) - blur(target)) ** 2).sum()


def loss_and_gradient(output, target, kernel, weight):
    """The loss and its gradient 2 (1 + weight K^T K) (output - target), K being the matrix of the convolution."""
    height, width, channels = output.shape
    matrix = convolution_matrix(kernel, height, width)
    difference = (output - target).reshape(height * width, channels)
    blurred = matrix @ difference
    loss = (difference ** 2).sum() + weight * (blurred ** 2).sum()
    gradient = 2 * difference + 2 * weight * matrix.T @ blurred
    return loss, gradient.reshape(output.shape)


def check_loss(output, target, kernel, weight, loss, gradient):
    """The other way of convolving has the same loss; its slopes along two directions are those of the gradient."""
    assert abs(loss_of(output, target, kernel, weight) / loss - 1) < 1e-11
    for number in (2, 3):
        direction = formula_image(number, output.shape) - 0.5
        slope = (loss_of(output + direction, target, kernel, weight)
                 - loss_of(output - direction, target, kernel, weight)) / 2
        assert abs(slope - (gradient * direction).sum()) < 1e-10 * numpy.abs(gradient * direction).sum()


def losses():
    """Every kernel on both shapes."""
    kernels = [("box", r, numpy.outer(box_line(r), box_line(r)), 3969.0) for r in (1, 2, 31)]
    kernels += [("gaussian", r, numpy.outer(gaussian_line(r), gaussian_line(r)), 3969.0) for r in (2, 31)]
    kernels += [("asymmetric", 1, asymmetric_kernel(1), 1.0), ("asymmetric", 2, asymmetric_kernel(2), 0.5)]
    records = []
    for shape in ((6, 5, 2), (9, 12, 3)):
        output, target = formula_image(0, shape), formula_image(1, shape)
        for kind, radius, kernel, weight in kernels:
            loss, gradient = loss_and_gradient(output, target, kernel, weight)
            check_loss(output, target, kernel, weight, loss, gradient)
            records.append({"shape": list(shape), "kind": kind, "radius": radius, "weight": weight,
                            "loss": float(loss), "gradient": gradient.ravel().tolist()})
    return records


# ---------------------------------------------------------------------------------------------- 2. soft ranks


@functools.cache
def faces(count):
    """All faces of the permutahedron of 1..count, which are the ordered partitions of its coordinates.

    On a face the sum of each block of coordinates is that of the block's ranks. Returned are, for each face,
    the matrix that averages within blocks and the average rank of each coordinate's block.
    """
    averages, targets = [], []
    for levels in itertools.product(range(count), repeat=count):
        levels = numpy.array(levels)
        if set(levels) != set(range(levels.max() + 1)):
            continue
        same = levels[:, None] == levels[None, :]
        averages.append(same / same.sum(axis=1, keepdims=True))
        below = (levels[None, :] < levels[:, None]).sum(axis=1)
        targets.append(below + (same.sum(axis=1) + 1) / 2)
    return numpy.array(averages), numpy.array(targets)


def exact_soft_ranks(values, strength):
    """Blondel et al. 2020, quadratic regulariser: the projection of values / strength onto the permutahedron.

    The nearest point lies within some face and there is the projection onto that face's plane. So it is the nearest
    of those projections onto planes that lie inside the permutahedron.
    """
    point = numpy.asarray(values, dtype=float) / strength
    averages, targets = faces(len(point))
    candidates = point - averages @ point + targets
    least = numpy.cumsum(numpy.sort(candidates, axis=1), axis=1)
    needed = numpy.cumsum(numpy.arange(1, len(point) + 1))
    inside = (least >= needed - 1e-11).all(axis=1)
    distances = numpy.where(inside, ((candidates - point) ** 2).sum(axis=1), numpy.inf)
    return candidates[numpy.argmin(distances)]


def isotonic_soft_ranks(values, strength):
    """The same by isotonic regression (Blondel et al. 2020, proposition 3), used for many values in `objective`."""
    point = numpy.asarray(values, dtype=float) / strength
    order = numpy.argsort(-point, kind="stable")
    descending = numpy.arange(len(point), 0, -1)
    shift = optimize.isotonic_regression(point[order] - descending, increasing=False).x
    ranks = numpy.empty_like(point)
    ranks[order] = point[order] - shift
    return ranks


def check_ranks(values, strength, ranks):
    """No corner lies further along (point - ranks) than the ranks do, which makes these the projection."""
    point = numpy.asarray(values, dtype=float) / strength
    corners = numpy.array(list(itertools.permutations(range(1, len(point) + 1))))
    scale = 1 + numpy.abs(point).max()
    assert ((corners - ranks) @ (point - ranks)).max() < 1e-10 * scale
    assert numpy.abs(isotonic_soft_ranks(values, strength) - ranks).max() < 1e-10 * scale


def finite_differences(function, position, step, tolerance):
    """Central differences by each number of the position; None where the one-sided slopes differ."""
    middle, columns = function(position), []
    for index in range(len(position)):
        move = numpy.zeros(len(position))
        move[index] = step
        after, before = function(position + move), function(position - move)
        agree = numpy.abs((after - middle) / step - (middle - before) / step) <= tolerance
        columns.append(numpy.where(agree, (after - before) / (2 * step), numpy.nan))
    return numpy.stack(columns, axis=-1)


def without_nan(array, digits=None):
    """Nested lists in which not-a-number is None; rounded where digits are given."""
    if array.ndim:
        return [without_nan(row, digits) for row in array]
    number = float(array)
    if numpy.isnan(number):
        return None
    return number if digits is None else round(number, digits) + 0.0


VECTORS = [
    [0.3, -0.2], [1.0, 1.0], [-2.0, -1.5], [0.0, 0.1, 0.2], [1.0, 2.0, 3.0], [-1.4, 0.7, -0.9], [2.0, 2.0, -1.0],
    [0.5, -0.5, 1.5, 0.25], [-3.0, 0.0, 0.0, 2.2], [0.11, 0.48, 0.13, 0.9, -0.4], [1.0, 1.0, 1.0, 0.0, 2.0],
    [-0.7, 1.9, 0.31, 0.3, -2.6, 0.85], [4.0, -4.0, 4.0, -4.0, 0.2, 0.6], [0.02, 0.035, 0.01, 0.0, 0.047, 0.031],
]


def soft_ranks():
    """Every vector at every strength; the Jacobian has ranks as rows and values as columns."""
    records = []
    for values, strength in itertools.product(VECTORS, (0.01, 0.1, 0.5, 1.0, 3.0)):
        ranks = exact_soft_ranks(values, strength)
        check_ranks(values, strength, ranks)
        jacobian = finite_differences(lambda at: exact_soft_ranks(at, strength), numpy.array(values), 1e-5, 1e-4)
        records.append({"values": values, "strength": strength, "ranks": ranks.tolist(),
                        "jacobian": without_nan(jacobian, digits=8)})
    return records


# ---------------------------------------------------------------------------------------------- statistics of pairs


def tied(distances):
    """Numbers in the order of the distances, equal where these differ by no more than 1e-12 of the largest.

    Rounding to 12 digits would do the same, but for equal distances on either side of where it rounds.
    """
    order = numpy.argsort(distances, kind="stable")
    apart = numpy.diff(distances[order], prepend=distances[order[0]]) > 1e-12 * distances.max()
    groups = numpy.empty(len(distances), dtype=int)
    groups[order] = numpy.cumsum(apart)
    return groups


def statistics(factor_distances, distances):
    """Correlations over all pairs, and mean and deviation over pairs of different images (T1 4.2, 3.9).

    `factor_distances` has one traversal's matrix, `distances` one matrix for each traversal.
    """
    factor_distances = numpy.broadcast_to(factor_distances, distances.shape).ravel()
    distances = distances.ravel()
    different = distances[factor_distances > 0]
    return {
        "pearson": float(numpy.corrcoef(factor_distances, distances)[0, 1]),
        "spearman": float(numpy.corrcoef(stats.rankdata(factor_distances), stats.rankdata(tied(distances)))[0, 1]),
        "mean": float(different.mean()),
        "standard_deviation": float(different.std()),
    }


def steps_between(count):
    """T1 equation 3.1 along one factor."""
    return numpy.abs(numpy.arange(count)[:, None] - numpy.arange(count)[None, :])


def mean_squares(images):
    """The mean squared error between any two of some images, one after the other in the first dimension."""
    differences = images[:, None] - images[None]
    return (differences ** 2).reshape(len(images), len(images), -1).mean(axis=2)


# ---------------------------------------------------------------------------------------------- 3. XYSquares


def square_image(place_x, place_y, spacing):
    """One square of XYSquares (T1 3.3.1, 3.3.4): 8 places for each coordinate, centred in 64 by 64 pixels."""
    image = numpy.zeros((64, 64))
    offset = (64 - (8 + 7 * spacing)) // 2
    top, left = offset + spacing * place_y, offset + spacing * place_x
    image[top:top + 8, left:left + 8] = 1
    return image


def square_traversals(factor, spacing):
    """The 8 traversals of a coordinate, [traversal, place, 64, 64]."""
    places = [[(moving, fixed) if factor == "x" else (fixed, moving) for moving in range(8)] for fixed in range(8)]
    return numpy.array([[square_image(x, y, spacing) for x, y in traversal] for traversal in places])


def xy_squares():
    """Both coordinates, every spacing, three distances."""
    blurs = {"mse": None, "mse_box31": line_matrix(box_line(31), 64),
             "mse_gaussian31": line_matrix(gaussian_line(31), 64)}
    records = []
    for factor, spacing, (name, blur) in itertools.product(("x", "y"), range(1, 9), blurs.items()):
        distances = []
        for images in square_traversals(factor, spacing):
            distance = mean_squares(images)
            if blur is not None:
                distance = distance + 3969 * mean_squares(blur @ images @ blur.T)
            distances.append(distance)
        records.append({"factor": factor, "spacing": spacing, "distance": name,
                        **statistics(steps_between(8), numpy.array(distances))})
    return records


# ---------------------------------------------------------------------------------------------- 4. XYObject

SCALES = (7, 9, 11, 13, 15)
RAINBOW = ((1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1))
SIZES = {"xy_object": {"x": 25, "y": 25, "scale": 5, "color": 24},
         "xy_object_shaded": {"x": 25, "y": 25, "scale": 5, "intensity": 4, "color": 6}}


def colour_bytes(index):
    """The palette of 24 colours: brightness changes slowest, dim first."""
    return numpy.array(RAINBOW[index % 6]) * (255 * (index // 6 + 1) // 4)


def object_place(x, y, scale):
    """The rows and columns that a square covers."""
    side = SCALES[scale]
    margin = (15 - side) // 2
    return slice(2 * y + margin, 2 * y + margin + side), slice(2 * x + margin, 2 * x + margin + side)


def draw_object(state, data):
    """One image in bytes, [64, 64, 3], black beyond the square."""
    x, y, scale = state[:3]
    colour = state[3] if data == "xy_object" else 6 * state[3] + state[4]
    image = numpy.zeros((64, 64, 3))
    image[object_place(x, y, scale)] = colour_bytes(colour)
    return image


def traversals(data, factor):
    """Every traversal of a factor, each the list of its states."""
    sizes = SIZES[data]
    others = [range(size) if name != factor else (0,) for name, size in sizes.items()]
    place = list(sizes).index(factor)
    for state in itertools.product(*others):
        yield [state[:place] + (value,) + state[place + 1:] for value in range(sizes[factor])]


def object_distances(data, factor):
    """The mean squared error within all traversals, from drawn images: sums of squared bytes are exact integers."""
    matrices = []
    for states in traversals(data, factor):
        images = numpy.array([draw_object(state, data).ravel() for state in states])
        products = images @ images.T
        squares = numpy.diag(products)
        matrices.append(squares[:, None] + squares[None, :] - 2 * products)
    return numpy.array(matrices) / (255.0 ** 2 * 64 * 64 * 3)


@functools.cache
def blurred_masks():
    """The blurred square without its colour for every place and scale, [x, y, scale, 4096]."""
    blur = line_matrix(box_line(31), 64)
    masks = numpy.zeros((25, 25, 5, 64, 64))
    for x, y, scale in numpy.ndindex(25, 25, 5):
        masks[(x, y, scale) + object_place(x, y, scale)] = 1
    return (blur @ masks @ blur.T).reshape(25, 25, 5, -1)


def object_box_distances(factor):
    """MSE + 3969 * MSE after the box of radius 31, along `scale` or `color` of xy_object.

    An image is a colour times a mask and the blur is linear, so the second term is a product: of the colour's square
    and the squared difference of blurred masks, or of the squared difference of colours and the blurred mask's square.
    """
    matrices, plain = [], object_distances("xy_object", factor)
    colours = numpy.array([colour_bytes(index) for index in range(24)]) / 255
    for states in traversals("xy_object", factor):
        x, y, scale, colour = states[0]
        if factor == "scale":
            blurred = mean_squares(blurred_masks()[x, y]) * (colours[colour] ** 2).sum() / 3
        else:
            blurred = mean_squares(colours) * (blurred_masks()[x, y, scale] ** 2).mean()
        matrices.append(3969 * blurred)
    return plain + numpy.array(matrices)


def check_box_distances(factor, distances):
    """A few traversals again, from drawn images and scipy's convolution of every channel."""
    kernel = numpy.outer(box_line(31), box_line(31))
    for number, states in enumerate(traversals("xy_object", factor)):
        if number % 1499 == 7:
            first, last = (draw_object(state, "xy_object") / 255 for state in (states[0], states[-1]))
            blurred = [signal.fftconvolve((first - last)[:, :, c], kernel, mode="same") for c in range(3)]
            expected = ((first - last) ** 2).mean() + 3969 * (numpy.array(blurred) ** 2).mean()
            assert abs(distances[number, 0, -1] / expected - 1) < 1e-11


def xy_object():
    """All factors under the mean squared error; scale and color of xy_object also with the box."""
    chosen = [("xy_object", name) for name in ("x", "y", "scale", "color")]
    chosen += [("xy_object_shaded", name) for name in ("intensity", "color")]
    records = []
    for data, factor in chosen:
        found = statistics(steps_between(SIZES[data][factor]), object_distances(data, factor))
        records.append({"data": data, "factor": factor, "distance": "mse", **found})
    for factor in ("scale", "color"):
        distances = object_box_distances(factor)
        check_box_distances(factor, distances)
        found = statistics(steps_between(SIZES["xy_object"][factor]), distances)
        records.append({"data": "xy_object", "factor": factor, "distance": "mse_box31", **found})
    return records


# ---------------------------------------------------------------------------------------------- 5. the learnt kernel

FACTORS = numpy.array([[0, 0], [1, 0], [2, 1], [0, 2], [1, 2], [3, 1]])
PAIRS = numpy.array([[0, 1], [2, 1], [1, 1], [3, 0], [0, 5], [4, 2], [5, 3], [4, 5], [2, 0], [3, 3]])
WEIGHTS = ((numpy.arange(25) * 37) % 49) / 49 - 0.4


def learnt_distances(kernel):
    """T1 equation 6.3 with alpha = 1: MSE of the images and of the convolved images, for each pair."""
    images = numpy.array([formula_image(number, (8, 8)) for number in range(6)])
    changed = numpy.array([signal.convolve2d(image, kernel, mode="same") for image in images])
    def mean_square(of):
        return ((of[PAIRS[:, 0]] - of[PAIRS[:, 1]]) ** 2).mean(axis=(1, 2))
    return mean_square(images) + mean_square(changed)


def scaled_factor_distances():
    """T1 equation 5.11. The common denominator 6 keeps equal distances equal."""
    sixths = numpy.abs(FACTORS[PAIRS[:, 0]] - FACTORS[PAIRS[:, 1]]) @ numpy.array([2, 3])
    return sixths / 6


def soft_spearman(first, second, strength):
    """T1 6.1: the correlation of soft ranks, by isotonic regression (`check_ranks` compares it with the exact way)."""
    ranks = [isotonic_soft_ranks(values, strength) for values in (first, second)]
    centred = [values - values.mean() for values in ranks]
    return centred[0] @ centred[1] / numpy.sqrt((centred[0] @ centred[0]) * (centred[1] @ centred[1]))


def regulariser(kernel):
    """T1 6.1.3: symmetric regularisation, as in its code, and the mean square with the weight 1e-3."""
    upside_down, mirrored = kernel[::-1], kernel[:, ::-1]
    pairs = ((upside_down, kernel), (mirrored, kernel), (upside_down, kernel.T), (mirrored, kernel.T))
    return sum(numpy.abs(first - second).mean() for first, second in pairs) + 1e-3 * (kernel ** 2).mean()


def objective_total(weights, strength, sign):
    """What is minimised: sign -1 learns the factors' order (T1 equation 6.1), sign +1 the adversarial one."""
    kernel = numpy.abs(weights).reshape(5, 5)
    correlation = soft_spearman(learnt_distances(kernel), scaled_factor_distances(), strength)
    return sign * correlation + regulariser(kernel)


def objective_at(strength):
    """Values and gradients of both signs."""
    kernel = numpy.abs(WEIGHTS).reshape(5, 5)
    distances, factor_distances = learnt_distances(kernel), scaled_factor_distances()
    found = {
        "strength": strength, "weights": WEIGHTS.tolist(), "distances": distances.tolist(),
        "factor_distances": factor_distances.tolist(),
        "distance_ranks": isotonic_soft_ranks(distances, strength).tolist(),
        "factor_distance_ranks": isotonic_soft_ranks(factor_distances, strength).tolist(),
        "correlation": float(soft_spearman(distances, factor_distances, strength)),
        "regulariser": float(regulariser(kernel)),
    }
    for name, sign in (("synergistic", -1), ("adversarial", 1)):
        gradient = finite_differences(lambda at: objective_total(at, strength, sign), WEIGHTS, 1e-6, 1e-3)
        found[name] = {"total": float(objective_total(WEIGHTS, strength, sign)), "gradient": without_nan(gradient)}
    return found


def objective():
    """At the strength 0.5, where all soft ranks are pooled and the correlation is that of the distances themselves."""
    return objective_at(0.5)


def objective_other_strengths():
    """At lower strengths, where some ranks are pooled and others are not; 0.01 is that of the thesis' code."""
    return [objective_at(strength) for strength in (0.1, 0.03, 0.01)]


# ---------------------------------------------------------------------------------------------- 6. the precision budget


def least_noise(decoder, log_product):
    """T4 equation 3.18: the least expected squared noise, where log(sigma_x^2 sigma_y^2) is given."""
    squares = (decoder ** 2).sum(axis=0)
    def noise(log_first):
        return squares @ numpy.exp([log_first, log_product - log_first])
    found = optimize.minimize_scalar(noise, bracket=(-1.0, 1.0), method="brent", options={"xtol": 1e-12})
    return float(found.fun), float(numpy.exp(2 * found.x - log_product))


def t4_example():
    """T4 equations 3.20 to 3.22 for C = 0, where e^-C = 1, and for C = 1 under two readings of the budget.

    The published e^-C belongs to sum of -log sigma = C. Equation 3.19, sum of -log sigma^2 = C, has e^(-C/2).
    """
    first = numpy.array([[4.0, 1.0], [-3.0, 1.0], [5.0, -1.0]])
    half = numpy.sqrt(0.5)
    second = first @ numpy.array([[half, -half], [half, half]]).T
    found = {}
    for name, decoder in (("first", first), ("second", second)):
        least, ratio = least_noise(decoder, 0.0)
        found[name] = {"least": least, "variance_ratio": ratio,
                       "least_at_one_by_sigma": least_noise(decoder, -2.0)[0],
                       "least_at_one_by_variance": least_noise(decoder, -1.0)[0]}
    return found


# ---------------------------------------------------------------------------------------------- output


def written(value):
    """JSON with sorted keys, one line for each record of a list."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(record, sort_keys=True) for record in value) + "\n]"
    return json.dumps(value, sort_keys=True)


def main():
    """Print all sections."""
    sections = (losses, objective, objective_other_strengths, soft_ranks, t4_example, xy_object, xy_squares)
    print("{\n" + ",\n".join(f'"{section.__name__}": {written(section())}' for section in sections) + "\n}")


if __name__ == "__main__":
    main()
