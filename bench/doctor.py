"""Sets what `unbraid doctor` says of datasets beside what small beta-VAEs learn from them, factor by factor.

    cargo build --release
    python3 bench/doctor.py              # the tables of docs/doctor.md; about half an hour on two cores

Runs are kept in bench/.runs (ignored by git): a finished one is not trained again, an interrupted one goes on. Needs nothing but Python.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

import behaviour

DATASETS = [
    ("xy_squares, spacing 1", "xy_squares", ["spacing=1", "grid=8"]),
    ("xy_squares, spacing 8", "xy_squares", ["spacing=8", "grid=8"]),
    ("xy_object", "xy_object", []),
    ("xy_object_shaded", "xy_object_shaded", []),
    ("dsprites", "dsprites", []),
    ("shapes3d_made", "shapes3d_made", []),
]


def command(unbraid, *words):
    done = subprocess.run([unbraid, *words], check=True, capture_output=True, text=True, cwd=behaviour.ROOT)
    return json.loads(done.stdout)


def rows_of(unbraid, out, label, name, settings):
    """For each factor: its name, the doctor's word and numbers, and those of the trained model."""
    changes = [f"dataset.name={name}", *(f"dataset.{setting}" for setting in settings)]
    run = behaviour.Run(label, "../t1/doctor", *changes, as_it_is=True)
    folder = run.train(unbraid, out, 1)
    sets = [word for setting in settings for word in ("--set", setting)]
    seen = command(unbraid, "doctor", name, *sets, "--loss", "mse", "--json")
    learned = command(unbraid, "distances", str(folder), "--json")
    scores = json.loads((folder / "scores.json").read_text())["scores"]
    for factor, found in sorted(seen["factors"].items(), key=lambda item: -item[1]["distance_mean"]):
        yield {
            "dataset": label, "factor": factor, "standing": found["standing"]["mse"],
            "distance": found["distance_mean"], "order": found["order"]["mse"] or 0.0,
            "latent": learned["factors"].get(factor, {}).get("ground_latent", {}).get("spearman"),
            "linearity": scores.get(f"linearity_ratio.{factor}"), "axis": scores.get(f"axis_ratio.{factor}"),
            "mig": scores.get(f"mig.{factor}"),
        }


def ranks(values):
    """Mean ranks, those that are equal sharing theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def spearman(pairs):
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    if len(known) < 3:
        return None
    a, b = ranks([a for a, _ in known]), ranks([b for _, b in known])
    return statistics.correlation(a, b) if len(set(a)) > 1 and len(set(b)) > 1 else None


def shown(value):
    return "–" if value is None else f"{value:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--unbraid", default=str(behaviour.ROOT / "target" / "release" / "unbraid"))
    parser.add_argument("--out", type=pathlib.Path, default=behaviour.ROOT / "bench" / ".runs")
    parser.add_argument("--only", nargs="+", choices=[label for label, *_ in DATASETS], help="only these datasets")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = []
    print("| dataset | factor | distance | doctor: order | model: latents follow the values | linearity ratio | axis ratio | MIG |")
    print("|---|---|---:|---|---:|---:|---:|---:|", flush=True)
    for label, name, settings in DATASETS:
        if arguments.only and label not in arguments.only:
            continue
        for row in rows_of(arguments.unbraid, arguments.out, label, name, settings):
            rows.append(row)
            print(f"| {row['dataset']} | {row['factor']} | {row['distance']:.4f} | {row['standing']} ({row['order']:.2f}) "
                  f"| {shown(row['latent'])} | {shown(row['linearity'])} | {shown(row['axis'])} | {shown(row['mig'])} |", flush=True)
    print("\n| doctor | model | rank correlation over all factors |\n|---|---|---:|")
    for said in ("order", "distance"):
        for learned in ("latent", "linearity", "axis", "mig"):
            print(f"| {said} | {learned} | {shown(spearman([(row[said], row[learned]) for row in rows]))} |")


if __name__ == "__main__":
    main()
