"""What every objective here is computed from: weights, images, noise and settings, and a network of two layers each way."""

import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

PIXELS, LATENTS, BATCH = 6, 4, 6
OBJECTIVES = {}


class Problem:
    """Weights (which record gradients), images, noise and settings of one objective."""

    def __init__(self, inputs, name, layout):
        inputs = {**inputs, **inputs.get("overrides", {}).get(name, {})}
        tensor = lambda values: torch.tensor(values, dtype=torch.float64)
        weights = {**inputs["weights"], **inputs["encoder_outputs"][layout], **inputs["own_weights"].get(name, {})}
        self.weights = {key: tensor(values).requires_grad_() for key, values in weights.items()}
        self.settings = inputs["settings"].get(name, {})
        for key in ("images", "second_images", "third_images", "noise", "second_noise", "pair_noise", "triplet_noise", "prior", "gumbel",
                    "generated"):
            setattr(self, key, tensor(inputs[key]))
        for key in ("permutations", "pairs", "permutation", "triples", "shared", "generated_shared", "power_vectors"):
            setattr(self, key, inputs[key])

    def layer(self, x, name):
        return x @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def encode(self, images):
        return self.layer(torch.tanh(self.layer(images, "encoder.hidden0")), "encoder.outputs")

    def decode(self, codes):
        return self.layer(torch.tanh(self.layer(codes, "decoder.hidden0")), "decoder.outputs")

    def gaussian(self, images=None, noise=None):
        """Means, log-variances and samples, each [batch, latents]."""
        outputs = self.encode(self.images if images is None else images)
        means, log_variances = outputs[:, :LATENTS], outputs[:, LATENTS:]
        return means, log_variances, means + (log_variances / 2).exp() * (self.noise if noise is None else noise)

    def squared_error(self, codes, images=None):
        return (self.decode(codes) - (self.images if images is None else images)).square().sum(1).mean()

    def members(self, count):
        """The first members of all examples, then their second members, ...: one batch of `count * batch` images."""
        return torch.cat([self.images, self.second_images, self.third_images][:count])


def objective(layout="gaussian", cases=("",)):
    """Has a function computed; under several names where its settings come in several kinds."""
    def register(function):
        for case in cases:
            OBJECTIVES["_".join(filter(None, (function.__name__, case)))] = (function, layout)
        return function
    return register


def kl_of_latents(means, log_variances):
    """Mean over the batch of each latent's KL to the standard normal, [latents]."""
    return 0.5 * (means.square() + log_variances.exp() - 1 - log_variances).mean(0)
