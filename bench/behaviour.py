"""Trains the configs of configs/frameworks with several seeds, and prints whether each framework does what it promises.

    cargo build --release
    python3 bench/behaviour.py                       # the table of docs/frameworks.md; about an hour on two cores
    python3 bench/behaviour.py --only kl --seeds 1   # one promise, one seed

Runs are kept in bench/.runs (ignored by git): a finished one is not trained again, an interrupted one goes on. Needs nothing but Python.
"""

import argparse
import csv
import hashlib
import json
import statistics
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIGS = ROOT / "configs" / "frameworks"
IMAGES = ["metrics=[{name='mig'},{name='infomec'},{name='unsupervised'},{name='cbd'},{name='reconstruction'},{name='kl'}]",
          "training.batch_size=32"]
POINTS = ["metrics=[{name='ds'},{name='dto'},{name='polarized'}]"]
# A part is set apart and scored every 500 steps, as in T4 section 3.3.2.
WATCHED = ["split.train=0.8", "split.validation=0.1", "split.test=0.1", "selection.metric=polarized", "selection.every=500"]
# The logarithm of a sigma moves by at most the learning rate in a step.
LONGER = ["training.steps=10000", "model.name=mlp", "model.encoder=[128]", "model.decoder=[128]"]
# Their runs take seconds, and differ much from seed to seed.
WITH_TEN_SEEDS = ["orthogonality", "ratios"]
# T1 figure 3.10: a beta-VAE has as many images at a step as Ada-GVAE.
PAIRS = ["framework.name=ada_gvae", "training.batch_size=16"]
# As many images a step as 32 triplets have; the beta is the larger of the two with which T1's beta-VAEs reconstruct such squares (table A.6).
SINGLES = ["framework={name='beta_vae',reduction='mean',beta=0.000316}", "sampler={name='single'}", "training.batch_size=96"]
# T4 table 3.1.
NONLINEAR = ["dataset.name=synth_nonlinear", "framework.beta=1e-3", "model.name=mlp", "model.encoder=[60,40,20]", "model.decoder=[60,40,20]",
             "model.nonlinearity=tanh", "training.learning_rate=1e-3"]


class Run:
    """A config and what is changed in it."""

    def __init__(self, label, config, *changes, points=False, as_it_is=False):
        self.label, self.config = label, config
        self.changes = [*([] if as_it_is else POINTS if points else IMAGES), *changes]

    def folder(self, out, seed):
        text = (CONFIGS / f"{self.config}.toml").read_text()
        changes = hashlib.sha256("\n".join([text, *self.changes]).encode()).hexdigest()[:8]
        return out / f"{Path(self.config).name}-{changes}-seed{seed}"

    def train(self, unbraid, out, seed):
        folder = self.folder(out, seed)
        if (folder / "report.html").exists():
            return folder
        if (folder / "config.toml").exists():
            command = ["resume", str(folder)]
        else:
            sets = [argument for change in [*self.changes, f"seed={seed}"] for argument in ("--set", change)]
            command = ["train", str(CONFIGS / f"{self.config}.toml"), "--out", str(folder), *sets]
        print(f"  {folder.name}", file=sys.stderr, flush=True)
        done = subprocess.run([unbraid, *command], capture_output=True, text=True, cwd=ROOT)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr[-2000:]}")
        return folder


def score(name):
    def figure(folder):
        return json.loads((folder / "scores.json").read_text())["scores"][name]
    return figure


def at_the_end(column, n=300):
    """The mean of a logged number over the last steps."""
    def figure(folder):
        with open(folder / "losses.csv") as file:
            values = [float(row[column]) for row in csv.DictReader(file)]
        return statistics.fmean(values[-n:])
    return figure


def polarized_share(folder):
    """The share of training after which the relative error stays below 3 %, in percent."""
    with open(folder / "selection.csv") as file:
        looks = [(int(row["step"]), float(row["value"] or "inf")) for row in csv.DictReader(file)]
    last_above = max((step for step, value in looks if value >= 0.03), default=0)
    return 100 * (1 - last_above / looks[-1][0])


def read_codes(folder):
    """codes.npy, as rows."""
    data = (folder / "codes.npy").read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    header = data[10:10 + length].decode()
    rows, columns = (int(n) for n in header.split("'shape': (")[1].split(")")[0].split(",") if n.strip())
    kind = "f" if "<f4" in header else "d"
    values = struct.unpack(f"<{rows * columns}{kind}", data[10 + length:])
    return [values[row * columns:(row + 1) * columns] for row in range(rows)]


def offdiagonal(folder):
    """The sum of squared covariances of different latents, over all codes."""
    latents = list(zip(*read_codes(folder)))
    centred = [[value - statistics.fmean(latent) for value in latent] for latent in latents]
    covariance = lambda one, other: sum(a * b for a, b in zip(one, other)) / len(one)
    return sum(covariance(one, other) ** 2 for one in centred for other in centred if one is not other)


def ranks(values):
    order = sorted(range(len(values)), key=lambda index: values[index])
    return [order.index(index) for index in range(len(values))]


def sigma_follows_correlation(folder):
    """Rank correlation over latents of mdL-VAE's sigma and the latent's largest correlation with a factor."""
    matrices = json.loads((folder / "matrices.json").read_text())
    strongest = [max(map(abs, row)) for row in matrices["cbd.correlation"]["values"]]
    sigmas = [at_the_end(f"sigma_z{latent}")(folder) for latent in range(len(strongest))]
    return statistics.correlation(ranks(sigmas), ranks(strongest))


# For each promise: its name, what is promised, the runs, and the figures with what was published or is wanted.
PROMISES = [
    ("orthogonality", "T4 table 3.3, `synth_linear`", [
        Run("beta_vae", "beta_vae", points=True), Run("ae", "ae", points=True), Run("beta_vae_full", "beta_vae_full", points=True),
    ], [("DS", score("ds"), "0.99, 0.71, 0.71"), ("DtO", score("dto"), "0.00, 0.33, 0.34")]),
    ("ratios", "T4 table 3.4, stretched by", [
        Run(f"{ratio}", "beta_vae", f"dataset.ratio={ratio}", "framework.beta=0.05", points=True) for ratio in ("1.0", "1.2", "1.5")
    ], [("DS", score("ds"), "0.51, 0.76, 0.98"), ("DtO", score("dto"), "0.49, 0.20, 0.01")]),
    ("polarized", "T4 table 3.2, polarized share of training", [
        Run("linear, 2 latents", "beta_vae", *WATCHED, points=True),
        Run("linear, 10 latents", "beta_vae", *WATCHED, "model.latents=10", points=True),
        Run("nonlinear, 2 latents", "beta_vae", *WATCHED, *NONLINEAR, points=True),
        Run("nonlinear, 10 latents", "beta_vae", *WATCHED, *NONLINEAR, "model.latents=10", points=True),
    ], [("percent", polarized_share, "99.8, 96.7, 99.9, 98.5")]),
    ("kl", "the KL that is held, where 10 is wanted", [
        Run("annealed_vae", "annealed_vae"), Run("control_vae", "control_vae"), Run("dynamic_vae", "dynamic_vae"),
    ], [("KL", at_the_end("kl"), "10 within 5 %")]),
    ("beta_hat", "L-VAE's beta-hat settles whatever sigma0 and sigma1 start from", [
        Run("1 and 1", "l_vae", *LONGER), Run("2 and 1", "l_vae", *LONGER, "framework.sigma0=2.0"),
    ], [("beta-hat", at_the_end("beta_hat"), "all the same")]),
    ("sigma", "mdL-VAE marks the latents that follow a factor", [Run("mdl_vae", "mdl_vae")],
     [("rank correlation of sigma and strongest correlation", sigma_follows_correlation, "near 1")]),
    ("total_correlation", "total correlation at equal reconstruction", [
        Run("vae", "vae"), Run("factor_vae", "factor_vae"), Run("beta_tc_vae", "beta_tc_vae"),
    ], [("Gaussian total correlation of samples", score("unsupervised.sampled.gaussian_total_correlation"), "lower than VAE"),
        ("reconstruction", score("reconstruction"), "as VAE")]),
    ("covariance", "off-diagonal covariance of codes", [
        Run("vae", "vae"), Run("dip_vae_i", "dip_vae_i"), Run("dip_vae_ii", "dip_vae_ii"),
    ], [("sum of squares", offdiagonal, "lower than VAE"), ("reconstruction", score("reconstruction"), "as VAE")]),
    ("quantised", "quantised latents against the beta-VAE", [
        Run("beta_vae, beta 4", "vae", "framework.name=beta_vae", "framework.beta=4.0"), Run("qlae", "qlae"),
    ], [(f"InfoMEC {part}", score(f"infomec.{part}"), "higher") for part in ("modularity", "explicitness", "compactness")]),
    ("orthogonal", "orthogonal directions of the decoder on `synth_nonlinear`", [
        Run("weight 0", "vae_orthogonal", "framework.weight=0.0", points=True), Run("weight 10", "vae_orthogonal", points=True),
    ], [("DtO", score("dto"), "lower"), ("reconstruction", at_the_end("reconstruction"), "as without")]),
    ("overlap", "T1 figure 3.10, `xy_squares` of spacing", [
        Run("1, beta_vae", "../t1/overlap", "dataset.spacing=1", as_it_is=True),
        Run("8, beta_vae", "../t1/overlap", as_it_is=True),
        Run("1, ada_gvae", "../t1/overlap", "dataset.spacing=1", *PAIRS, as_it_is=True),
        Run("8, ada_gvae", "../t1/overlap", *PAIRS, as_it_is=True),
    ], [("MIG", score("mig"), "higher at 1"), ("DCI", score("dci"), "higher at 1"), ("MCC", score("mcc"), "higher at 1")]),
    ("blur", "T1 figure 3.12, `xy_squares` of spacing 8 under", [
        Run("mse", "../t1/blur", "framework.reconstruction=mse", "framework.beta=0.000316", as_it_is=True),
        Run("mse_box", "../t1/blur", as_it_is=True),
    ], [("MIG", score("mig"), "higher with mse_box"), ("DCI", score("dci"), "higher with mse_box"), ("MCC", score("mcc"), "higher with mse_box")]),
    ("triplets", "T1 figure 5.5, `xy_squares`", [
        Run("beta_vae", "ada_tvae", *SINGLES, as_it_is=True), Run("ada_tvae", "ada_tvae", as_it_is=True),
    ], [("axis ratio", score("axis_ratio"), "ada_tvae above 0.8"), ("linearity ratio", score("linearity_ratio"), "ada_tvae above 0.9"),
        ("MIG", score("mig"), "ada_tvae higher")]),
    ("collapse", "KL on `xy_object` at the end of 700 steps", [
        Run("beta 1", "../t1/collapse", as_it_is=True),
        Run("beta 1 in means", "../t1/collapse", "framework.reduction=mean", as_it_is=True),
        Run("beta 4", "../t1/collapse", "framework.beta=4", as_it_is=True),
        Run("beta 4, warmed up", "../t1/collapse", "framework.beta={ from = 0.0, to = 4.0, steps = 400 }", as_it_is=True),
        Run("beta 4, nothing averaged", "../t1/collapse", "framework.beta=4", "framework.eta=0.0", as_it_is=True),
        Run("beta 4, pairs of k = 1", "../t1/collapse", "framework.beta=4", "sampler={name='pair',k=1}", as_it_is=True),
    ], [("KL", at_the_end("kl", 100), "above 1"), ("reconstruction", at_the_end("reconstruction", 100), "")]),
    ("averages", "mean or product of shared posteriors", [Run("ada_gvae", "ada_gvae"), Run("ada_ml_vae", "ada_ml_vae")],
     [("MIG", score("mig"), "Locatello et al.: the mean"), ("reconstruction", score("reconstruction"), "")]),
    ("time", "temporal squares", [Run("slow_vae", "slow_vae", as_it_is=True), Run("pcl", "pcl", as_it_is=True)],
     [("MCC", score("mcc"), "above 0.8"), ("MIG", score("mig"), "")]),
]


def spread(values):
    largest = max(map(abs, values))
    digits = 1 if largest >= 20 else 2 if largest >= 0.01 else 5
    mean = f"{statistics.fmean(values):.{digits}f}"
    return f"{mean} ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else mean


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--unbraid", default=str(ROOT / "target" / "release" / "unbraid"))
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / ".runs")
    parser.add_argument("--seeds", type=int, default=3, help="but ten for orthogonality and ratios, whose runs take seconds")
    parser.add_argument("--only", nargs="+", choices=[name for name, *_ in PROMISES], help="only these promises")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    print("| promise | figure | ours: mean ± standard deviation over seeds | published or wanted |\n|---|---|---|---|", flush=True)
    for name, promise, runs, figures in PROMISES:
        if arguments.only and name not in arguments.only:
            continue
        n_seeds = max(10, arguments.seeds) if name in WITH_TEN_SEEDS else arguments.seeds
        folders = {run.label: [run.train(arguments.unbraid, arguments.out, seed + 1) for seed in range(n_seeds)] for run in runs}
        for title, figure, wanted in figures:
            ours = ", ".join(f"{label}: {spread([figure(folder) for folder in of_seeds])}" for label, of_seeds in folders.items())
            print(f"| {promise} | {title} | {ours} | {wanted} |", flush=True)


if __name__ == "__main__":
    main()
