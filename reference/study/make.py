"""A made-up table of runs, and what scipy, statsmodels and pandas say of it.

It shares no code with the Rust side. Scores are rounded so that some are equal, groups differ in size, seeds are missing here and there, and some
scores are undefined.
"""

import itertools
import json
from pathlib import Path

import numpy
import pandas
import scipy
import statsmodels
import statsmodels.formula.api
from scipy import stats

HIGH = ["mig", "dci", "sap", "modularity", "cbd", "cbd.modularity", "udr", "elbo"]
LOW = ["fairness", "unsupervised", "reconstruction"]
SUPERVISED = ["dci", "mig", "modularity", "sap", "cbd", "fairness"]
UNSUPERVISED = ["unsupervised", "udr", "reconstruction", "elbo"]
LEAST = 5
STRENGTHS = {"beta_vae": ("beta", [1.0, 4.0, 16.0]), "factor_vae": ("gamma", [10.0, 100.0]), "dip_vae_i": ("lambda_od", [1.0, 5.0]), "vae": (None, [None])}


def made_up_runs():
    random = numpy.random.default_rng(7)
    runs = []
    for dataset, latents in [("dsprites", 10), ("shapes3d", 6)]:
        for framework, (key, values) in STRENGTHS.items():
            for place, value in enumerate(values):
                for seed in range(1, 8):
                    # Groups of different sizes, whose seeds do not all match.
                    if random.random() < 0.2 and seed > 3:
                        continue
                    config = {"seed": seed, "dataset": {"name": dataset}, "framework": {"name": framework}, "model": {"latents": latents}}
                    if key is not None:
                        config["framework"][key] = value
                    level = 0.3 + 0.1 * place + 0.05 * len(framework) / 10 + (0.1 if dataset == "dsprites" else 0.0)
                    common = random.normal()
                    scores, undefined = {}, {}
                    for number, name in enumerate(HIGH + LOW):
                        noise = 0.6 * common + 0.8 * random.normal()
                        score = level * (1 if number % 3 else -1) + 0.1 * (noise if number % 2 else random.normal())
                        # Two digits make ties; the others keep all of theirs.
                        scores[name] = round(score, 2) if number % 4 < 2 else score
                        if random.random() < 0.06 or (name == "sap" and framework == "vae"):
                            undefined[name] = "made up"
                            del scores[name]
                    name = f"{dataset}/{framework}-{value}/{seed}"
                    runs.append({"name": name, "config": config, "scores": scores, "undefined": undefined})
    random.shuffle(runs)
    return runs


def frame_of(runs):
    rows = []
    for run in runs:
        framework = run["config"]["framework"]
        strengths = [f"{key}={value:g}" for key, value in framework.items() if key != "name"]
        rows.append(
            {
                "name": run["name"],
                "seed": run["config"]["seed"],
                "dataset": run["config"]["dataset"]["name"],
                "objective": framework["name"],
                "setting": " ".join([framework["name"], *strengths]),
                **{f"score {name}": run["scores"].get(name) for name in HIGH + LOW},
            }
        )
    return pandas.DataFrame(rows)


def column(name):
    return f"score {name}"


def correlations_of(frame, rows, columns, method):
    found = []
    for a, b in itertools.product(rows, columns):
        both = frame[[column(a), column(b)]].astype(float)
        both = both.dropna().to_numpy()
        value = None
        if len(both) >= LEAST:
            test = stats.spearmanr if method == "spearman" else stats.pearsonr
            value = float(test(both[:, 0], both[:, 1]).statistic)
        found.append({"a": a, "b": b, "n": len(both), "value": value})
    return found


def explained(frame, by):
    found = []
    for dataset, of_dataset in frame.groupby("dataset"):
        for name in HIGH + LOW:
            table = of_dataset[[by, column(name)]].dropna().rename(columns={by: "by", column(name): "y"}).astype({"y": float})
            fit = statsmodels.formula.api.ols("y ~ C(by)", data=table).fit()
            groups = [group["y"].to_numpy() for _, group in table.groupby("by")]
            p = float(stats.f_oneway(*groups).pvalue)
            assert abs(p - fit.f_pvalue) < 1e-9
            found.append({"dataset": dataset, "score": name, "n": len(table), "share": float(fit.rsquared), "p": float(fit.f_pvalue)})
    return found


def summaries(frame):
    found = []
    for (dataset, setting), group in frame.groupby(["dataset", "setting"]):
        for name in HIGH + LOW:
            values = group[column(name)].dropna().astype(float).to_numpy()
            if len(values) < 2:
                continue
            low, high = stats.t.interval(0.95, len(values) - 1, loc=values.mean(), scale=stats.sem(values))
            found.append({"dataset": dataset, "setting": setting, "score": name, "n": len(values), "mean": float(values.mean()),
                          "deviation": float(values.std(ddof=1)), "low": float(low), "high": float(high)})
    return found


def paired(frame):
    found = []
    for dataset, of_dataset in frame.groupby("dataset"):
        for a, b in itertools.combinations(sorted(of_dataset["setting"].unique()), 2):
            for name in ["mig", "dci", "sap", "reconstruction"]:
                sides = [of_dataset[of_dataset["setting"] == side].set_index("seed")[column(name)].dropna().astype(float) for side in (a, b)]
                both = pandas.concat(sides, axis=1, join="inner").sort_index().to_numpy()
                if len(both) < 2:
                    continue
                t = stats.ttest_rel(both[:, 0], both[:, 1]).pvalue
                w = stats.wilcoxon(both[:, 0], both[:, 1]).pvalue
                found.append({"dataset": dataset, "a": a, "b": b, "score": name, "n": len(both), "t": float(t), "wilcoxon": float(w)})
    return found


def wilcoxon_cases():
    random = numpy.random.default_rng(3)
    cases = []
    for n in [1, 2, 3, 5, 8, 12, 13, 14, 20, 49, 50, 51, 80]:
        for digits in [None, 1, 0]:
            differences = random.normal(0.3, 1.0, n)
            if digits is not None:
                differences = differences.round(digits)
            if not differences.any():
                continue
            cases.append({"differences": differences.tolist(), "p": float(stats.wilcoxon(differences).pvalue)})
    return cases


def special():
    rows = []
    for degrees in [1, 2, 3, 4.5, 9, 30, 200, 5000]:
        for t in [0.0, 1e-6, 0.1, 1.0, 2.5, 7.0, 40.0]:
            rows.append({"of": "t", "at": [t, degrees], "value": float(2 * stats.t.sf(t, degrees))})
        for level in [0.5, 0.9, 0.95, 0.999]:
            rows.append({"of": "t_quantile", "at": [level, degrees], "value": float(stats.t.ppf(0.5 + level / 2, degrees))})
        for over in [1, 2, 7, 40]:
            for f in [0.01, 0.5, 1.0, 3.0, 20.0]:
                rows.append({"of": "f", "at": [f, over, degrees], "value": float(stats.f.sf(f, over, degrees))})
    for z in [0.0, 0.3, 1.0, 1.96, 2.8, 2.9, 4.0, 6.0, 10.0]:
        rows.append({"of": "normal", "at": [z], "value": float(2 * stats.norm.sf(z))})
    return rows


def transfer(frame):
    found = {"metrics": [], "datasets": []}
    for dataset, of_dataset in frame.groupby("dataset"):
        means = of_dataset.groupby("setting")[[column(name) for name in SUPERVISED]].agg(lambda values: values.astype(float).mean())
        found["metrics"] += [{"dataset": dataset, **row} for row in correlations_of(means, SUPERVISED, SUPERVISED, "spearman")]
    for name in SUPERVISED:
        means = frame.groupby(["setting", "dataset"])[column(name)].agg(lambda values: values.astype(float).mean()).unstack()
        both = means.dropna().to_numpy()
        value = float(stats.spearmanr(both[:, 0], both[:, 1]).statistic) if len(both) >= LEAST else None
        found["datasets"].append({"score": name, "a": means.columns[0], "b": means.columns[1], "n": len(both), "value": value})
    return found


def random_good(frame):
    """Every draw by itself: a source, a seed, a target, a run of the good setting, another setting, a run of it."""
    sources = SUPERVISED + UNSUPERVISED
    datasets = sorted(frame["dataset"].unique())
    moves = {name: [[], [], [], []] for name in sources}
    for source, source_dataset in itertools.product(sources, datasets):
        sign = -1 if source in LOW else 1
        there = frame[(frame["dataset"] == source_dataset) & frame[column(source)].notna()]
        for seed, of_seed in there.groupby("seed"):
            if len(of_seed) < 2:
                continue
            goodness = sign * of_seed[column(source)].astype(float)
            best = of_seed[goodness == goodness.max()]["setting"].tolist()
            for target, target_dataset in itertools.product(SUPERVISED, datasets):
                target_sign = -1 if target in LOW else 1
                pool = frame[(frame["dataset"] == target_dataset) & frame[column(target)].notna()]
                if target_dataset == source_dataset:
                    pool = pool[pool["seed"] != seed]
                runs = {setting: (target_sign * group[column(target)].astype(float)).tolist() for setting, group in pool.groupby("setting")}
                of_best = []
                for good in best:
                    others = [setting for setting in runs if setting != good]
                    if good not in runs or not others:
                        continue
                    shares = []
                    for other in others:
                        outcomes = [1.0 if a > b else 0.5 if a == b else 0.0 for a in runs[good] for b in runs[other]]
                        shares.append(sum(outcomes) / len(outcomes))
                    of_best.append(sum(shares) / len(shares))
                if of_best:
                    place = (0 if source == target else 1) + (0 if source_dataset == target_dataset else 2)
                    moves[source][place].append(sum(of_best) / len(of_best))
    won = lambda shares: {"share": sum(shares) / len(shares), "n": len(shares)} if shares else None
    overall = [won(sum((moves[name][place] for name in SUPERVISED), [])) for place in range(4)]
    return {"overall": overall, "by_source": {name: [won(shares) for shares in moves[name]] for name in sources}}


def selection(frame):
    found = []
    for rule in ["cbd", "mig", "udr", "reconstruction"]:
        for (dataset, objective), group in frame.groupby(["dataset", "objective"]):
            means = group.groupby("setting")[column(rule)].agg(lambda values: values.astype(float).mean()).dropna()
            if means.empty:
                continue
            best = means.idxmin() if rule in LOW else means.idxmax()
            dci = group[group["setting"] == best][column("dci")].dropna().astype(float)
            found.append({"rule": rule, "dataset": dataset, "objective": objective, "setting": best, "n_settings": len(means),
                          "dci_n": len(dci), "dci_mean": float(dci.mean()), "dci_deviation": float(dci.std(ddof=1))})
    return found


def main():
    runs = made_up_runs()
    frame = frame_of(runs)
    values = {
        "versions": {module.__name__: module.__version__ for module in (numpy, scipy, statsmodels, pandas)},
        "spearman": [{"dataset": dataset, **row} for dataset, group in frame.groupby("dataset") for row in correlations_of(group, SUPERVISED, SUPERVISED, "spearman")],
        "pearson": [{"dataset": dataset, **row} for dataset, group in frame.groupby("dataset") for row in correlations_of(group, SUPERVISED, SUPERVISED, "pearson")],
        "unsupervised": [{"dataset": dataset, **row} for dataset, group in frame.groupby("dataset") for row in correlations_of(group, SUPERVISED, UNSUPERVISED, "spearman")],
        "explained_by_objective": explained(frame, "objective"),
        "explained_by_setting": explained(frame, "setting"),
        "summaries": summaries(frame),
        "paired": paired(frame),
        "wilcoxon": wilcoxon_cases(),
        "special": special(),
        "transfer": transfer(frame),
        "random_good": random_good(frame),
        "selection": selection(frame),
    }
    for name, content in [("runs.json", runs), ("values.json", values)]:
        Path(__file__).with_name(name).write_text(json.dumps(content, indent=None, separators=(",", ":"), allow_nan=False) + "\n")
    print(len(runs), "runs")


if __name__ == "__main__":
    main()
