"""One step of every objective on pairs and triplets of images, and on what comes after what. README.md tells what the papers leave open.

The members of an example go through the network as one batch, [first members; second members; ...], and take their noise in that order.
The first member of a triplet is the anchor, then come the positive and the negative; that of a temporal pair is the earlier image.
"""

import math

import torch
from torch.nn.functional import leaky_relu, softplus

from problem import BATCH, LATENTS, PIXELS, kl_of_latents, objective


def far_from(value, bend, why):
    """What is computed here and elsewhere in single precision must lie on the same side of a bend."""
    assert (value - bend).abs().min() > 1e-5, f"the inputs lie too near to a bend: {why}"


# Latents that a pair shares.

def kl_of_gaussians(first, second):
    """Of each latent, KL(first || second); both are (means, log-variances)."""
    (m0, v0), (m1, v1) = first, second
    return 0.5 * ((v0 - v1).exp() + (m0 - m1).square() / v1.exp() - 1 + v1 - v0)


def distances(kind, first, second):
    """T1 2.12, A.2 and table 5.1: how far apart each latent is, [batch, latents]."""
    if kind == "difference":
        return (first[0] - second[0]).abs()
    forward = kl_of_gaussians(first, second)
    return forward if kind == "kl" else 0.5 * forward + 0.5 * kl_of_gaussians(second, first)


def is_shared(deltas, eta):
    """T1 2.13, 2.14, 5.16: nearer than the threshold, of each pair for itself. It has no gradient."""
    deltas = deltas.detach()
    low, high = deltas.min(1, keepdim=True).values, deltas.max(1, keepdim=True).values
    threshold = (1 - eta) * low + eta * high
    if (high > 0).any():  # an image and itself share nothing, at any precision
        far_from(deltas[high[:, 0] > 0], threshold[high[:, 0] > 0], "shared or not")
    return deltas < threshold


def mean_of_posteriors(first, second):
    """T1 2.16, but the variances are averaged, as in Locatello et al. 2020 and all published code."""
    return (first[0] + second[0]) / 2, ((first[1].exp() + second[1].exp()) / 2).log()


def product_of_posteriors(first, second):
    """Bouchacourt et al. 2018, with twice the variance of the product, so that equal posteriors stay what they are (Locatello et al. 2020)."""
    precisions = (-first[1]).exp() + (-second[1]).exp()
    weighted = first[0] * (-first[1]).exp() + second[0] * (-second[1]).exp()
    return weighted / precisions, (2 / precisions).log()


def adaptive_vae(p, average):
    """T1 2.10, 2.11, 2.15: both members keep their own posteriors where they differ, and their own noise everywhere."""
    s, images = p.settings, p.members(2)
    outputs = p.encode(images)
    first, second = [(half[:, :LATENTS], half[:, LATENTS:]) for half in outputs.split(BATCH)]
    shared = is_shared(distances(s["threshold"], first, second), s["eta"])
    common = average(first, second)
    pick = lambda k, own: torch.where(shared, common[k], own[k])
    means, log_variances = [torch.cat([pick(k, first), pick(k, second)]) for k in (0, 1)]
    error = p.squared_error(means + (log_variances / 2).exp() * p.pair_noise, images)
    kl = kl_of_latents(means, log_variances).sum()
    return {"reconstruction": error, "kl": kl, **counted(shared)}, error + s["beta"] * kl


def counted(shared):
    """Shared latents of a pair on average, and as a fraction of all."""
    count = shared.double().sum(1).mean()
    return {"shared": count, "shared_fraction": count / LATENTS}


@objective("gaussian", ["", "eta", "kl", "difference"])
def ada_gvae(p):
    return adaptive_vae(p, mean_of_posteriors)


@objective("gaussian", ["", "eta", "kl", "difference"])
def ada_ml_vae(p):
    return adaptive_vae(p, product_of_posteriors)


@objective("plain", ["", "eta"])
def ada_ae(p):
    """T1 table 5.1: the same with codes and their absolute differences."""
    images = p.members(2)
    first, second = p.encode(images).split(BATCH)
    shared = is_shared((first - second).abs(), p.settings["eta"])
    codes = torch.cat([torch.where(shared, (first + second) / 2, own) for own in (first, second)])
    error = p.squared_error(codes, images)
    return {"reconstruction": error, **counted(shared)}, error


# Triplets.

def norm(differences, degree):
    """Its gradient is 0 where there is no difference: an image can be its own positive."""
    return torch.linalg.vector_norm(differences, degree, 1)


def triplet_loss(s, positive, negative):
    """T1 5.1, 5.2 from differences to the anchor, [triplets, latents]: the mean over triplets."""
    by = norm(positive, s["norm"]) - norm(negative, s["norm"])
    if s["margin"] == "soft":
        return softplus(by).mean()
    far_from(s["psi"] + by, 0, "margin kept or not")
    return (s["psi"] + by).clamp(min=0).mean()


def shared_weights(s, anchors, negatives):
    """T1 5.19: omega for latents that anchor and negative share; both are (means, log-variances)."""
    shared = is_shared(distances(s["threshold"], anchors, negatives), s["eta"])
    return torch.where(shared, s["omega"], 1.0), counted(shared)


def triplet_of_codes(s, codes, is_adaptive, log_variances=(None, None, None)):
    """T1 5.1, 5.2, or 5.17-5.21, where the negative's differences are weighted."""
    anchor, positive, negative = codes
    weights, counts = 1.0, {}
    if is_adaptive:
        weights, counts = shared_weights(s, (anchor, log_variances[0]), (negative, log_variances[2]))
    return {"triplet": triplet_loss(s, anchor - positive, weights * (anchor - negative)), **counts}


def triplet_vae(p, is_adaptive):
    """T1 5.12, 5.22: of means, beside a beta-VAE on all three; `decoder_gradient` false keeps the reconstruction's from the encoder."""
    s, images = p.settings, p.members(3)
    means, log_variances, codes = p.gaussian(images, p.triplet_noise)
    error = p.squared_error(codes if s["decoder_gradient"] else codes.detach(), images)
    kl = kl_of_latents(means, log_variances).sum()
    triplet = triplet_of_codes(s, means.split(BATCH), is_adaptive, log_variances.split(BATCH))
    return {"reconstruction": error, "kl": kl, **triplet}, error + s["beta"] * kl + s["alpha"] * triplet["triplet"]


def triplet_ae(p, is_adaptive):
    s, images = p.settings, p.members(3)
    codes = p.encode(images)
    error = p.squared_error(codes if s["decoder_gradient"] else codes.detach(), images)
    triplet = triplet_of_codes(s, codes.split(BATCH), is_adaptive)
    return {"reconstruction": error, **triplet}, error + s["alpha"] * triplet["triplet"]


KINDS = ["soft_l1", "soft_l2", "hard_l1", "hard_l2", "detached"]


@objective("gaussian", KINDS)
def beta_tvae(p):
    return triplet_vae(p, False)


@objective("plain", KINDS)
def tae(p):
    return triplet_ae(p, False)


@objective("gaussian", [*KINDS, "kl"])
def ada_tvae(p):
    return triplet_vae(p, True)


@objective("plain", KINDS)
def ada_tae(p):
    return triplet_ae(p, True)


@objective("gaussian", ["", "soft_l2", "kl"])
def ada_tvae_data(p):
    """T1 5.5: a beta-VAE on single images, and triples of the batch whose positive is the one that looks nearer to the anchor."""
    s = p.settings
    means, log_variances, codes = p.gaussian()
    error, kl = p.squared_error(codes), kl_of_latents(means, log_variances).sum()
    perceived = (p.images[:, None] - p.images[None]).square().sum(2) / PIXELS
    triples = []
    for a, b, c in p.triples:
        assert b == c or abs(perceived[a, b] - perceived[a, c]) > 1e-6, "the order of a triple hangs on rounding"
        triples.append((a, c, b) if perceived[a, b] > perceived[a, c] else (a, b, c))
    rows = [list(member) for member in zip(*triples)]
    pick = lambda values: [values[chosen] for chosen in rows]
    triplet = triplet_of_codes(s, pick(means), True, pick(log_variances))
    return {"reconstruction": error, "kl": kl, **triplet}, error + s["beta"] * kl + s["alpha"] * triplet["triplet"]


# Time.

def laplace_cross_entropy(mean, log_variance, rate):
    """-E log p of a Laplace distribution around 0 under a normal one: rate * E|x| - ln(rate / 2), where |x| is folded normal."""
    sigma = (log_variance / 2).exp()
    folded = sigma * math.sqrt(2 / math.pi) * (-(mean / sigma).square() / 2).exp() + mean * torch.erf(mean / (sigma * math.sqrt(2)))
    return rate * folded - math.log(rate / 2)


def entropy(log_variances):
    return 0.5 * (log_variances + math.log(2 * math.pi * math.e))


@objective("gaussian", ["", "code", "forward"])
def slow_vae(p):
    """Klindt et al. 2021: the transition's prior is Laplace around the other member's mean. `both`: averages over both directions of time;
    else as printed, from first to second member. Settings say how often each term of a pair counts."""
    s, images = p.settings, p.members(2)
    means, log_variances, codes = p.gaussian(images, p.pair_noise)
    others = means.roll(BATCH, 0)
    crossed = laplace_cross_entropy(means - others, log_variances, s["rate"]).sum(1)
    entropies = entropy(log_variances).sum(1)
    error = p.squared_error(codes, images)
    if s["both"]:
        kl, cross, own = kl_of_latents(means, log_variances).sum(), crossed.mean(), entropies.mean()
    else:
        kl = kl_of_latents(means[:BATCH], log_variances[:BATCH]).sum()
        cross, own = crossed[BATCH:].mean(), entropies[BATCH:].mean()
    parts = {"reconstruction": error, "kl": kl, "kl_laplace": cross - own, "cross_entropy": cross, "entropy": own}
    transition = s["cross_entropies"] * cross - s["entropies"] * own
    return parts, s["reconstructions"] * error + s["beta"] * kl + s["gamma"] * transition


@objective("plain", ["", "printed"])
def pcl(p):
    """Hyvarinen and Morioka 2017: whether a pair is true, from the later code and an earlier one. The logit of a true pair is -r, c aside, as
    in the authors' code: a Laplace process makes |a1 h(t) + a2 h(t-1)| small where the pair is true. `sign` = 1 is r as printed."""
    weights = {key: p.weights[f"regression.{key}"] for key in ("a1", "a2", "b", "abar", "bbar", "c")}
    earlier, later = p.encode(p.members(2)).split(BATCH)

    def logit(later, earlier):
        within = weights["a1"] * later + weights["a2"] * earlier + weights["b"]
        far_from(within, 0, "absolute value of a feature")
        r = (within.abs() - (weights["abar"] * later + weights["bbar"]).square()).sum(1)
        return p.settings["sign"] * r + weights["c"].sum()

    true, permuted = logit(later, earlier), logit(later, earlier[p.permutation])
    entropy_of_true, entropy_of_permuted = softplus(-true).mean(), softplus(permuted).mean()
    total = (entropy_of_true + entropy_of_permuted) / 2
    accuracy = ((true > 0).double().mean() + (permuted < 0).double().mean()) / 2
    return {"cross_entropy": total, "true": entropy_of_true, "permuted": entropy_of_permuted, "accuracy": accuracy}, total


# Adversaries.

def spectral(weight, u):
    """Miyato et al. 2018: divided by its largest singular value, estimated by one power iteration from `u`, [outputs]. Only the weight has a gradient."""
    with torch.no_grad():
        v = weight @ u
        v = v / v.norm()
        u = weight.T @ v
        u = u / u.norm()
    return weight / (v @ weight @ u)


@objective("gaussian", ["", "spectral", "plain"])
def weak_gan(p):
    """Shu et al. 2020, share labels: pairs that agree in one factor, true ones and generated ones, told apart given which factor that is."""
    s, name = p.settings, "discriminator"

    def weight(layer):
        w = p.weights[f"{layer}.weight"]
        return spectral(w, torch.tensor(p.power_vectors[layer])) if layer in s["spectral"] else w

    affine = lambda x, layer: x @ weight(layer) + p.weights[f"{layer}.bias"]

    def bent(x):
        far_from(x, 0, "leaky ReLU")
        return leaky_relu(x, 0.2)

    def discriminate(pair, factors):
        body = lambda x: bent(affine(torch.tanh(affine(x, f"{name}.encoder.hidden0")), f"{name}.encoder.outputs"))
        features = torch.cat([body(pair[0]), body(pair[1])], 1)
        features = bent(affine(bent(affine(features, f"{name}.neck0")), f"{name}.neck1"))
        projection = weight(f"{name}.projection")  # [factors, width]
        if s["projection"] == "rows":
            projection = projection / (projection.square().sum(1, keepdim=True) + 1e-3).sqrt()
        return (features @ weight(f"{name}.head"))[:, 0] + (features * projection[factors]).sum(1)

    first, second = p.generated.split(BATCH)
    is_same = torch.nn.functional.one_hot(torch.tensor(p.generated_shared), LATENTS).bool()
    second = torch.where(is_same, first, second)
    drawn = [p.decode(first), p.decode(second)]
    generator = softplus(-discriminate(drawn, p.generated_shared)).mean()

    drawn = [image.detach() for image in drawn]
    real, fake = discriminate([p.images, p.second_images], p.shared), discriminate(drawn, p.generated_shared)
    discriminator = (softplus(-real).mean() + softplus(fake).mean()) / 2

    outputs = p.encode(drawn[0])
    means, log_variances = outputs[:, :LATENTS], outputs[:, LATENTS:]
    log_densities = -0.5 * ((first - means).square() / log_variances.exp() + log_variances + math.log(2 * math.pi))
    encoder = -log_densities.sum(1).mean()
    return {"generator": generator, "encoder": encoder, "discriminator": discriminator}, generator + encoder


# What the formulas above must obey, whatever the inputs.

def check_formulas():
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=generator)
    first, second, third = [(draw(50, LATENTS), draw(50, LATENTS)) for _ in range(3)]
    normal = lambda q: torch.distributions.Normal(q[0], (q[1] / 2).exp())
    assert torch.allclose(kl_of_gaussians(first, second), torch.distributions.kl_divergence(normal(first), normal(second)))
    assert torch.allclose(distances("symmetric_kl", first, second), distances("symmetric_kl", second, first))

    # Averaging equal posteriors changes nothing; a product's log-density is the mean of both, up to a constant.
    for average in (mean_of_posteriors, product_of_posteriors):
        assert all(torch.allclose(a, b) for a, b in zip(average(first, first), first))
    log_q = lambda q, x: normal(q).log_prob(x)
    gap = lambda x: log_q(product_of_posteriors(first, second), x) - (log_q(first, x) + log_q(second, x)) / 2
    assert torch.allclose(gap(third[0]), gap(third[1]))

    # No latent is shared at eta 0, all but the farthest at eta 1; omega 1 leaves the triplet loss as it is.
    deltas = distances("difference", first, second)
    low, high = deltas.min(1, keepdim=True).values, deltas.max(1, keepdim=True).values
    assert not (deltas < low).any() and ((deltas < high).sum(1) == LATENTS - 1).all()
    codes = [q[0] for q in (first, second, third)]
    for degree in (1, 2):
        s = {"margin": "soft", "norm": degree, "threshold": "difference", "eta": 0.5, "omega": 1.0}
        assert triplet_of_codes(s, codes, True)["triplet"] == triplet_of_codes(s, codes, False)["triplet"]
        length = lambda x: x.abs().pow(degree).sum(1).pow(1 / degree)
        by = length(codes[0] - codes[1]) - length(codes[0] - codes[2])
        assert torch.allclose(triplet_of_codes(s, codes, False)["triplet"], torch.log1p(by.exp()).mean())

    # Repeated, the power iteration finds the largest singular value; once, it cannot overestimate it.
    weight, u = draw(6, 3), draw(3)
    scale = lambda u: (weight / spectral(weight, u))[0, 0]
    largest = torch.linalg.svdvals(weight)[0]
    assert scale(u) <= largest and torch.allclose(scale(torch.linalg.matrix_power(weight.T @ weight, 200) @ u), largest)
    check_cross_entropy()


def check_cross_entropy():
    """Against quadrature where scipy is installed; and its limit as the normal narrows."""
    narrow = laplace_cross_entropy(torch.tensor(-0.7), torch.tensor(-40.0), 6.0)
    assert torch.allclose(narrow, torch.tensor(6.0 * 0.7 - math.log(3.0)))
    try:
        from scipy.integrate import quad
    except ImportError:
        return
    for mean, sigma, rate in [(0.0, 1.0, 6.0), (0.3, 0.2, 6.0), (-1.5, 2.0, 6.0), (4.0, 0.5, 1.0), (-0.01, 0.05, 10.0)]:
        density = lambda x: math.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
        part = lambda a, b: quad(lambda x: density(x) * (rate * abs(x) - math.log(rate / 2)), a, b, epsabs=1e-13, epsrel=1e-12)[0]
        low, high = min(mean - 12 * sigma, -1e-3), max(mean + 12 * sigma, 1e-3)
        closed = laplace_cross_entropy(torch.tensor(mean), torch.tensor(2 * math.log(sigma)), rate).item()
        stops = sorted({low, 0.0, mean, high})
        exact = sum(part(a, b) for a, b in zip(stops, stops[1:]))
        assert abs(closed - exact) < 1e-9 * max(1, abs(exact)), (mean, sigma, rate, closed, exact)
