"""One step of every objective on single images. README.md tells what the papers leave open."""

import math

import torch
from torch.nn.functional import leaky_relu, log_softmax, softplus

from problem import BATCH, LATENTS, OBJECTIVES, PIXELS, kl_of_latents, objective


def vae_parts(p):
    means, log_variances, codes = p.gaussian()
    return {"reconstruction": p.squared_error(codes), "kl": kl_of_latents(means, log_variances).sum()}


# Autoencoders, and plain weights of the KL.

@objective("plain")
def ae(p):
    parts = {"reconstruction": p.squared_error(p.encode(p.images))}
    return parts, parts["reconstruction"]


@objective()
def vae(p):
    parts = vae_parts(p)
    return parts, parts["reconstruction"] + parts["kl"]


@objective()
def beta_vae(p):
    parts = vae_parts(p)
    return parts, parts["reconstruction"] + p.settings["beta"] * parts["kl"]


@objective("full")
def beta_vae_full(p):
    """Zietlow 2022, eq 3.30, 3.31. Outputs: means, logarithms of the diagonal of L, then L below the diagonal, row by row."""
    outputs = p.encode(p.images)
    means, log_diagonal, below = outputs[:, :4], outputs[:, 4:8], outputs[:, 8:]
    factor = torch.diag_embed(log_diagonal.exp())
    for k, (row, column) in enumerate((r, c) for r in range(LATENTS) for c in range(r)):
        place = torch.zeros(LATENTS, LATENTS)
        place[row, column] = 1
        factor = factor + below[:, k, None, None] * place
    covariance = factor @ factor.transpose(1, 2)
    trace = covariance.diagonal(dim1=1, dim2=2).sum(1)
    kl = 0.5 * (means.square().sum(1) + trace - torch.logdet(covariance) - LATENTS).mean()
    error = p.squared_error(means + (factor @ p.noise[:, :, None])[:, :, 0])
    return {"reconstruction": error, "kl": kl}, error + p.settings["beta"] * kl


# Capacities and controllers.

@objective()
def annealed_vae(p):
    """Burgess et al. 2018, eq 8: the absolute value is that of the batch's mean."""
    parts, capacity = vae_parts(p), p.settings["capacity"]
    total = parts["reconstruction"] + p.settings["gamma"] * (parts["kl"] - capacity).abs()
    return {**parts, "capacity": torch.tensor(capacity)}, total


@objective()
def control_vae(p):
    """Mogultay Ozcan 2024, eq 2.6, 2.7 at the first step."""
    parts = vae_parts(p)
    error = p.settings["kl"] - parts["kl"].item()
    beta = p.settings["kp"] / (1 + math.exp(error)) - p.settings["ki"] * error
    return {**parts, "beta": torch.tensor(beta)}, parts["reconstruction"] + beta * parts["kl"]


@objective()
def dynamic_vae(p):
    """The same, eq 2.8, and the incremental PI of Shao et al.: beta(t) = beta(t-1) + Kp [s(-e(t)) - s(-e(t-1))] - Ki e(t), e(-1) = 0."""
    parts, s = vae_parts(p), p.settings
    error = s["kl"] - parts["kl"].item()
    beta = s["beta"] + s["kp"] * (1 / (1 + math.exp(error)) - 1 / 2) - s["ki"] * error
    return {**parts, "kl_average": parts["kl"], "beta": torch.tensor(beta)}, parts["reconstruction"] + beta * parts["kl"]


# Learned weights.

def sigma_loss(log_sigma, parts):
    """Rybkin et al. 2021: Gaussian negative log-likelihood of all pixels, softly bounded, plus KL."""
    log_sigma = -6 + softplus(log_sigma + 6)
    likelihood = PIXELS * log_sigma + parts["reconstruction"] / (2 * (2 * log_sigma).exp())
    return {**parts, "sigma": log_sigma.exp()}, likelihood + parts["kl"]


@objective()
def sigma_vae(p):
    return sigma_loss(p.weights["sigma.log"].sum(), vae_parts(p))


@objective()
def sigma_vae_optimal(p):
    """sigma^2 is the mean squared error of a pixel over the batch; the gradient flows through it."""
    parts = vae_parts(p)
    return sigma_loss(0.5 * (parts["reconstruction"] / PIXELS).log(), parts)


@objective()
def l_vae(p):
    """Mogultay Ozcan 2024, eq 6.2, 6.3."""
    parts = vae_parts(p)
    sigma0, sigma1 = p.weights["sigma.reconstruction"].sum(), p.weights["sigma.kl"].sum()
    regulariser = sigma0.square() + sigma1.square()
    total = parts["reconstruction"] / sigma0.square() + parts["kl"] / sigma1.square() + regulariser
    return {**parts, "regulariser": regulariser, "sigma0": sigma0, "sigma1": sigma1, "beta_hat": sigma0.square() / sigma1.square()}, total


def mdl(variant):
    """Eq 7.1-7.3 and table 7.4: how terms are weighted, how sigma_r and how each latent's sigma is held."""
    soft, steep = (lambda s: 1 / (1 + (1 + s.square()).log())), (lambda s: 1 / s.square())
    square, logarithm, nth = torch.square, (lambda s: (1 + s.square()).log()), (lambda s: (1 + s.square()).log() / LATENTS)
    weight, hold_reconstruction, hold_latent = {
        "strong": (soft, square, square), "weak": (soft, square, nth), "v1": (soft, logarithm, logarithm),
        "v2": (steep, square, square), "v3": (steep, logarithm, logarithm)}[variant]

    def loss(p):
        means, log_variances, codes = p.gaussian()
        error, kl = p.squared_error(codes), kl_of_latents(means, log_variances)
        sigma_r, sigmas = p.weights["sigma.reconstruction"].sum(), p.weights["sigma.latents"][0]
        regulariser = hold_reconstruction(sigma_r) + hold_latent(sigmas).sum()
        parts = {"reconstruction": error, "kl": kl.sum(), "regulariser": regulariser, "sigma_r": sigma_r}
        total = weight(sigma_r) * error + (weight(sigmas) * kl).sum() + regulariser
        return {**parts, **{f"sigma_z{i}": sigma for i, sigma in enumerate(sigmas)}}, total

    OBJECTIVES[f"mdl_vae_{variant}"] = (loss, "gaussian")


for variant in ("strong", "weak", "v1", "v2", "v3"):
    mdl(variant)


@objective()
def dfc_vae(p):
    """Hou et al. 2017: half the mean squared difference of each hidden layer's features, of a frozen tanh encoder, times the pixels."""
    codes = p.gaussian()[2]
    image, drawn, features = p.images, p.decode(codes), 0
    for layer in ("features.encoder.hidden0", "features.encoder.hidden1"):
        image, drawn = torch.tanh(p.layer(image, layer)), torch.tanh(p.layer(drawn, layer))
        features = features + PIXELS * (image - drawn).square().mean(1).mean() / 2
    parts = vae_parts(p)
    total = p.settings["feature_weight"] * features + p.settings["beta"] * parts["kl"]
    return {"features": features, "pixels": parts["reconstruction"], "kl": parts["kl"]}, total


# What the aggregate posterior is like.

def log_weights(estimator, size):
    """Logarithms of what q(z_row | x_column) is weighted with in q(z_row), [batch, batch] (Chen et al. 2018, appendix C)."""
    if estimator == "minibatch":
        return torch.full((BATCH, BATCH), -math.log(size * BATCH))
    others = BATCH - 1  # the paper's M: the batch is the image itself and M others
    weights = torch.full((BATCH, BATCH), 1 / others)
    for row in range(BATCH):
        weights[row, row] = 1 / size
        weights[row, (row + 1) % BATCH] = (size - others) / (size * others)
    return weights.log()


def beta_tc(p, estimator):
    """Index-code information, total correlation, dimension-wise KL: averages over the batch of log-ratios at samples."""
    means, log_variances, codes = p.gaussian()
    log_q = lambda z, m, v: -0.5 * ((z - m).square() / v.exp() + v + math.log(2 * math.pi))
    log_pairs = log_q(codes[:, None], means[None], log_variances[None])  # [sample, image, latents]
    weights = log_weights(estimator, p.settings["n_images"])
    log_q_codes = torch.logsumexp(weights + log_pairs.sum(2), 1)
    log_q_latents = torch.logsumexp(weights[:, :, None] + log_pairs, 1).sum(1)
    log_prior = log_q(codes, torch.zeros(1), torch.zeros(1)).sum(1)
    log_posterior = log_q(codes, means, log_variances).sum(1)
    information, correlation, dimensions = [value.mean() for value in (
        log_posterior - log_q_codes, log_q_codes - log_q_latents, log_q_latents - log_prior)]
    error = p.squared_error(codes)
    parts = {"reconstruction": error, "mutual_information": information, "total_correlation": correlation, "dimension_wise_kl": dimensions}
    return parts, error + information + p.settings["beta"] * correlation + dimensions


@objective()
def beta_tc_vae_minibatch(p):
    return beta_tc(p, "minibatch")


@objective()
def beta_tc_vae_stratified(p):
    """The image after each (the first after the last) gets the odd weight."""
    return beta_tc(p, "stratified")


def dip(p, is_second):
    """Kumar et al. 2018, eq 6 and 7. Sums over all entries off the diagonal, so that each pair counts twice."""
    means, log_variances, _ = p.gaussian()
    parts, s = vae_parts(p), p.settings
    centred = means - means.mean(0)
    covariance = centred.T @ centred / BATCH
    if is_second:
        covariance = covariance + torch.diag(log_variances.exp().mean(0))
    diagonal = covariance.diagonal()
    off, on = (covariance - torch.diag(diagonal)).square().sum(), (diagonal - 1).square().sum()
    total = parts["reconstruction"] + parts["kl"] + s["lambda_offdiagonal"] * off + s["lambda_diagonal"] * on
    return {**parts, "offdiagonal": off, "diagonal": on}, total


@objective()
def dip_vae_i(p):
    return dip(p, False)


@objective()
def dip_vae_ii(p):
    return dip(p, True)


@objective()
def info_vae(p):
    """Zhao et al. 2019: reconstruction + (1 - alpha) KL + (alpha + lambda - 1) MMD, unbiased, kernel exp(-|x - y|^2 / scale)."""
    parts, s, codes = vae_parts(p), p.settings, p.gaussian()[2]
    kernel = lambda x, y: (-(x[:, None] - y[None]).square().sum(2) / s["scale"]).exp()
    within = lambda x: (kernel(x, x).sum() - kernel(x, x).diagonal().sum()) / (len(x) * (len(x) - 1))
    mmd = within(codes) + within(p.prior) - 2 * kernel(codes, p.prior).mean()
    total = parts["reconstruction"] + (1 - s["alpha"]) * parts["kl"] + (s["alpha"] + s["lambda"] - 1) * mmd
    return {**parts, "mmd": mmd}, total


# Discrete latents.

@objective("joint")
def joint_vae(p):
    """Dupont 2018: 2 Gaussian latents, then one Concrete latent of 2 classes."""
    outputs, s = p.encode(p.images), p.settings
    means, log_variances, log_classes = outputs[:, :2], outputs[:, 2:4], log_softmax(outputs[:, 4:], 1)
    continuous = means + (log_variances / 2).exp() * p.noise[:, :2]
    concrete = torch.softmax((log_classes + p.gumbel) / s["temperature"], 1)
    error = p.squared_error(torch.cat([continuous, concrete], 1))
    kl_continuous = kl_of_latents(means, log_variances).sum()
    kl_discrete = (log_classes.exp() * (log_classes + math.log(2))).sum(1).mean()
    capped = min(s["discrete_capacity"], math.log(2))  # no more than all its classes tell apart
    total = error + s["gamma"] * ((kl_continuous - s["continuous_capacity"]).abs() + (kl_discrete - capped).abs())
    return {"reconstruction": error, "kl_continuous": kl_continuous, "kl_discrete": kl_discrete,
            "capacity_continuous": torch.tensor(s["continuous_capacity"]), "capacity_discrete": torch.tensor(capped)}, total


@objective("plain")
def qlae(p):
    """Hsu et al. 2023: each latent takes the nearest of its own values; straight-through gradient."""
    outputs, values, s = p.encode(p.images), p.weights["codebook.values"], p.settings
    nearest = (outputs[:, :, None] - values[None]).abs().argmin(2)  # [batch, latents]
    quantised = torch.gather(values.expand(BATCH, -1, -1), 2, nearest[:, :, None])[:, :, 0]
    error = p.squared_error(outputs + (quantised - outputs).detach())
    quantisation = (outputs.detach() - quantised).square().sum(1).mean()
    commitment = (outputs - quantised.detach()).square().sum(1).mean()
    parts = {"reconstruction": error, "quantisation": quantisation, "commitment": commitment}
    return parts, error + s["quantisation"] * quantisation + s["commitment"] * commitment


# Supports, Jacobians, discriminators.

@objective()
def hfs(p):
    """Roth et al. 2023: for every pair of latents the largest squared distance of a point of (all z_i) x (all z_j) from the nearest code."""
    means = p.gaussian()[0]
    parts, s, support = vae_parts(p), p.settings, 0
    for i in range(LATENTS):
        for j in range(i + 1, LATENTS):
            grid = torch.cartesian_prod(means[:, i], means[:, j])  # [batch * batch, 2]
            support = support + (grid[:, None] - means[None][:, :, [i, j]]).square().sum(2).min(1).values.max()
    return {**parts, "support": support}, parts["reconstruction"] + s["beta"] * parts["kl"] + s["gamma"] * support


@objective()
def vae_orthogonal(p):
    """Zietlow 2022, 6.3 asks for it: squared entries of J^T J off the diagonal, one pair of latents for each image, by differences."""
    codes = p.gaussian()[2]
    parts, s = vae_parts(p), p.settings
    ways = [torch.eye(LATENTS)[[pair[k] for pair in p.pairs]] for k in (0, 1)]  # each [batch, latents]
    columns = [(p.decode(codes + s["step"] * way) - p.decode(codes)) / s["step"] for way in ways]
    orthogonality = (columns[0] * columns[1]).sum(1).square().mean()
    return {**parts, "orthogonality": orthogonality}, parts["reconstruction"] + s["beta"] * parts["kl"] + s["weight"] * orthogonality


@objective()
def factor_vae(p):
    """Kim and Mnih 2018, eq 2, 3; a second batch, each latent of it shuffled, is what the discriminator tells the codes from."""
    def discriminate(codes):
        for k in range(6):
            codes = leaky_relu(p.layer(codes, f"discriminator.hidden{k}"), 0.2)
        return p.layer(codes, "discriminator.outputs")  # class 0: drawn from q(z)
    codes = p.gaussian()[2]
    logits = discriminate(codes)
    correlation = (logits[:, 0] - logits[:, 1]).mean()
    others = p.gaussian(p.second_images, p.second_noise)[2].detach()
    permuted = torch.stack([others[rows, latent] for latent, rows in enumerate(p.permutations)], 1)
    true, false = discriminate(codes.detach()), discriminate(permuted)
    entropy = -0.5 * (log_softmax(true, 1)[:, 0].mean() + log_softmax(false, 1)[:, 1].mean())
    parts = {**vae_parts(p), "total_correlation": correlation, "discriminator": entropy}
    return parts, parts["reconstruction"] + parts["kl"] + p.settings["gamma"] * correlation
