"""Runs the Python libraries' own metrics on a table of codes, one case at a time, and prints how long each took.

Called by bench/metrics.py, in the environment that it makes. disentanglement_lib 1.5 is used as published, without
TensorFlow: its metrics need only `gin`, and of that only a decorator, which is replaced here by its settings written
out. disent 0.8.0 is used as published. Both look codes up by their factors, so that no encoder's time is counted.
"""

import functools
import json
import sys
import time
import types
import warnings

import numpy as np

warnings.filterwarnings("ignore")

BATCH = 64
N_TRAIN, N_TEST = 10_000, 5_000


def main():
    path, cases = sys.argv[1], sys.argv[2].split(",")
    table = Table(np.load(path))
    imported = {"disentanglement_lib": import_disentanglement_lib, "disent": import_disent}
    for library in dict.fromkeys(CASES[case][0] for case in cases):
        imported[library]()
    for case in cases:
        seconds, scores = shortest(CASES[case][1], table)
        print(json.dumps({"case": case, "seconds": seconds, "scores": scores}), flush=True)


def shortest(run, table):
    """The shortest time of up to ten runs, as many as fit into a few seconds, and the scores."""
    times = []
    while len(times) < 10 and sum(times) < 3:
        began = time.perf_counter()
        scores = run(table)
        times.append(time.perf_counter() - began)
    return min(times), scores


class Table:
    """Codes and factors of a full grid, as the two libraries want to see them."""

    def __init__(self, arrays):
        self.codes, self.factors = arrays["codes"], arrays["factors"]
        self.sizes = [int(size) for size in arrays["factor_sizes"]]
        self.train, self.test = arrays["train_rows"], arrays["test_rows"]
        self.row_of = np.empty(len(self.codes), dtype=np.int64)
        self.row_of[np.ravel_multi_index(self.factors.T, self.sizes)] = np.arange(len(self.codes))

    def halves(self):
        """Codes and factors of the train rows and of the test rows, each with a column for each row."""
        take = lambda rows: (self.codes[rows].T, self.factors[rows].T)
        return (*take(self.train), *take(self.test))

    def codes_of(self, factors):
        return self.codes[self.row_of[np.ravel_multi_index(np.asarray(factors).T, self.sizes)]]


# disentanglement_lib


def import_disentanglement_lib():
    gin, gin_tf = types.ModuleType("gin"), types.ModuleType("gin.tf")
    for module in (gin, gin_tf):
        module.REQUIRED = None
        module.configurable = lambda *args, **_: args[0] if args and callable(args[0]) else (lambda function: function)
    gin.tf = gin_tf
    sys.modules.update({"gin": gin, "gin.tf": gin_tf})
    from absl import logging

    logging.set_verbosity(logging.ERROR)
    from disentanglement_lib.evaluation.metrics import factor_vae, utils

    factor_vae._prune_dims = functools.partial(factor_vae._prune_dims, threshold=0.05)
    bins = functools.partial(utils._histogram_discretize, num_bins=20)
    utils.make_discretizer = lambda target, **_: bins(target)


class GroundTruth:
    """The part of disentanglement_lib's GroundTruthData that its metrics use; the images are the codes."""

    def __init__(self, table):
        self.table = table
        self.num_factors = len(table.sizes)
        self.factors_num_values = table.sizes

    def sample_factors(self, num, random_state):
        return np.stack([random_state.randint(size, size=num) for size in self.table.sizes], axis=1)

    def sample_observations_from_factors(self, factors, random_state):
        del random_state
        return self.table.codes_of(factors)

    def sample(self, num, random_state):
        factors = self.sample_factors(num, random_state)
        return factors, self.table.codes_of(factors)

    def sample_observations(self, num, random_state):
        return self.sample(num, random_state)[1]


def same(codes):
    return codes


def mig(table):
    from disentanglement_lib.evaluation.metrics import mig

    codes, factors, _, _ = table.halves()
    return {"mig": float(mig._compute_mig(codes, factors)["discrete_mig"])}


def modularity(table):
    from disentanglement_lib.evaluation.metrics import modularity_explicitness, utils

    codes, factors, _, _ = table.halves()
    information = utils.discrete_mutual_info(utils.make_discretizer(codes), factors)
    return {"modularity": float(modularity_explicitness.modularity(information))}


def explicitness(table):
    from disentanglement_lib.evaluation.metrics import modularity_explicitness, utils

    codes, factors, test_codes, test_factors = table.halves()
    codes, mean, deviation = utils.normalize_data(codes)
    test_codes, _, _ = utils.normalize_data(test_codes, mean, deviation)
    scores = [
        modularity_explicitness.explicitness_per_factor(codes, factors[k], test_codes, test_factors[k])[1]
        for k in range(len(factors))
    ]
    return {"explicitness": float(np.mean(scores))}


def irs(table):
    from disentanglement_lib.evaluation.metrics import irs, utils

    codes, factors, _, _ = table.halves()
    bins = np.asarray(utils.make_discretizer(factors))
    return {"irs": float(irs.scalable_disentanglement_score(bins.T, codes.T, 0.99)["avg_score"])}


def sap(table):
    from disentanglement_lib.evaluation.metrics import sap_score

    return {"sap": float(sap_score._compute_sap(*table.halves(), continuous_factors=False)["SAP_score"])}


def unsupervised(table):
    from disentanglement_lib.evaluation.metrics import unsupervised_metrics, utils

    codes, _, _, _ = table.halves()
    covariance = np.cov(codes)
    bins = utils.make_discretizer(codes)
    information = utils.discrete_mutual_info(bins, bins)
    np.fill_diagonal(information, 0)
    n = len(codes)
    return {
        "unsupervised.gaussian_total_correlation": float(unsupervised_metrics.gaussian_total_correlation(covariance)),
        "unsupervised.wasserstein_correlation": float(
            np.real(unsupervised_metrics.gaussian_wasserstein_correlation(covariance))
        ),
        "unsupervised.mutual_information": float(np.sum(information) / (n**2 - n)),
    }


def beta_vae(table):
    from disentanglement_lib.evaluation.metrics import beta_vae

    scores = beta_vae.compute_beta_vae_sklearn(
        GroundTruth(table), same, np.random.RandomState(0), None, BATCH, N_TRAIN, N_TEST
    )
    return {"beta_vae": float(scores["eval_accuracy"])}


def factor_vae(table):
    from disentanglement_lib.evaluation.metrics import factor_vae

    scores = factor_vae.compute_factor_vae(
        GroundTruth(table), same, np.random.RandomState(0), None, BATCH, N_TRAIN, N_TEST, 10_000
    )
    return {"factor_vae": float(scores["eval_accuracy"])}


def dci_with(name, predictor, table):
    from disentanglement_lib.evaluation.metrics import dci

    dci.ensemble = types.SimpleNamespace(GradientBoostingClassifier=predictor)
    scores = dci._compute_dci(*table.halves())
    parts = ["disentanglement", "completeness", "informativeness_test"]
    return {f"{name}.{part}": float(scores[part]) for part in parts}


def dci(table):
    from sklearn.ensemble import GradientBoostingClassifier

    return dci_with("dci", functools.partial(GradientBoostingClassifier, random_state=0), table)


def dci_forest(table):
    from sklearn.ensemble import RandomForestClassifier

    return dci_with("dci_forest", functools.partial(RandomForestClassifier, random_state=0), table)


# disent


def import_disent():
    import disent.metrics  # noqa: F401


def disent_dataset(table):
    """The table as one of disent's datasets; the images are the codes."""
    from disent.dataset import DisentDataset
    from disent.dataset.data import ArrayGroundTruthData

    ordered = table.codes[table.row_of].reshape(-1, table.codes.shape[1], 1, 1)
    names = tuple(f"factor_{k}" for k in range(len(table.sizes)))
    data = ArrayGroundTruthData(ordered, names, tuple(table.sizes), array_chn_is_last=False)
    return DisentDataset(data)


def flat(images):
    return images.reshape(len(images), -1)


def ratios(table):
    from disent.metrics import metric_linearity

    scores = metric_linearity(disent_dataset(table), flat)
    return {
        "linearity_ratio": float(scores["linearity.linear_ratio.var"]),
        "axis_ratio": float(scores["linearity.axis_ratio.var"]),
    }


def flatness(table):
    from disent.metrics import metric_flatness

    return {"flatness": float(metric_flatness(disent_dataset(table), flat)["flatness.ave_flatness"])}


def distance_correlation(table):
    from disent.metrics import metric_distances

    scores = metric_distances(disent_dataset(table), flat)
    return {
        "distance_correlation.factor.pearson": float(scores["distances.lcorr_ground_latent.l1.factor"]),
        "distance_correlation.global32.spearman": float(scores["distances.rcorr_ground_latent.l1.global"]),
    }


# What is timed: the library, and the function that runs it.
CASES = {
    "mig": ("disentanglement_lib", mig),
    "modularity": ("disentanglement_lib", modularity),
    "explicitness": ("disentanglement_lib", explicitness),
    "irs": ("disentanglement_lib", irs),
    "sap": ("disentanglement_lib", sap),
    "unsupervised": ("disentanglement_lib", unsupervised),
    "beta_vae": ("disentanglement_lib", beta_vae),
    "factor_vae": ("disentanglement_lib", factor_vae),
    "dci": ("disentanglement_lib", dci),
    "dci_forest": ("disentanglement_lib", dci_forest),
    "ratios": ("disent", ratios),
    "flatness": ("disent", flatness),
    "distance_correlation": ("disent", distance_correlation),
}


if __name__ == "__main__":
    main()
