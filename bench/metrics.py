"""Compares unbraid with the Python libraries on the same codes, metric by metric, and prints how many times as fast it is.

The peers are disentanglement_lib 1.5 (with scikit-learn and scipy) and disent 0.8.0 (with torch), as published, run by
bench/metrics_python.py. For each metric, unbraid runs before and after the peer, each in a process of its own; the ratio
is the peer's time over the mean of the two. Scores stand beside each other, so that equal work is seen to be compared.

    python3 bench/metrics.py                      # a made table: 46,080 rows, 10 latents, dSprites' factors, thinned
    python3 bench/metrics.py --input codes.npz    # your own: a full grid with train_rows and test_rows

Needs nothing but Python; the libraries are installed into bench/.venv by the first run. See bench/README.md.
"""

import argparse
import datetime
import json
import sys
import tempfile
import time
from pathlib import Path

from train import HERE, Problem, available_cores, check_unbraid, cpu_model, output_of, prepare_venv, tell, text_table_of, write_json

WORKER = HERE / "metrics_python.py"
REQUIREMENTS = ["scipy==1.17.1", "scikit-learn==1.9.1", "six==1.17.0", "absl-py", "tqdm", "h5py", "pillow", "imageio", "packaging", "pyyaml", "fsspec"]
# Their own requirements ask for TensorFlow 1 and the like, which their metrics do not need.
WITHOUT_THEIR_REQUIREMENTS = ["disentanglement-lib==1.5", "disent==0.8.0", "torchvision==0.29.2", "lightning==2.6.6", "lightning-utilities==0.15.3", "torchmetrics==1.9.0"]

# What is timed, and the metrics of ours that do the same work.
CASES = {
    "mig": ["mig"],
    "modularity": ["modularity"],
    "irs": ["irs"],
    "sap": ["sap"],
    "unsupervised": ["unsupervised"],
    "explicitness": ["explicitness"],
    "beta_vae": ["beta_vae"],
    "factor_vae": ["factor_vae"],
    "ratios": ["linearity_ratio", "axis_ratio", "orientation_ratio"],
    "flatness": ["flatness"],
    "distance_correlation": ["distance_correlation"],
    "dci_forest": ["dci_forest"],
    "dci": ["dci"],
}


def main():
    arguments = parse_arguments()
    check_unbraid(arguments.unbraid)
    python = prepare_libraries(arguments.venv)
    with tempfile.TemporaryDirectory() as folder:
        table = arguments.input or make_table(python, Path(folder) / "made.npz")
        rows = {case: run_case(case, table, arguments.unbraid, python) for case in arguments.cases}
        everything, scores = time_everything(table, arguments.unbraid)
    for row in rows.values():
        row["ours"] = {name: scores.get(name) for name in row["theirs"]}
    results = {"table": str(arguments.input or "made"), "cases": rows, "all_metrics_of_unbraid": everything}
    results["machine"] = {"cpu": cpu_model(), "cores": available_cores(), "date": datetime.date.today().isoformat()}
    machine = results["machine"]
    print(f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}\n")
    rows = list(table_rows(results))
    print("\n".join(text_table_of(rows)))
    print(f"\nunbraid evaluate --metrics all, from the start of the process: {everything:.2f} s")
    if arguments.markdown:
        print("\n" + "\n".join(markdown(rows)))
    if arguments.json:
        write_json(arguments.json, results)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--input", type=Path, help="an .npz with codes, factors, factor_sizes, train_rows, test_rows")
    parser.add_argument("--cases", default=",".join(CASES), help="names with commas between (all)")
    parser.add_argument("--unbraid", type=Path, default=HERE.parent / "target/release/unbraid", help="the binary")
    parser.add_argument("--venv", type=Path, default=HERE / ".venv", help="where the libraries are, or will be installed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every number")
    parser.add_argument("--markdown", action="store_true", help="also print the table as Markdown")
    arguments = parser.parse_args()
    arguments.cases = list(dict.fromkeys(arguments.cases.split(",")))
    for case in arguments.cases:
        if case not in CASES:
            raise Problem(f'no case is called "{case}"; there are {", ".join(CASES)}')
    if arguments.input and not arguments.input.is_file():
        raise Problem(f"there is no file {arguments.input}")
    return arguments


def prepare_libraries(venv):
    """The Python of the venv, which has both libraries when this returns."""
    python = prepare_venv(venv)
    code = "import importlib.metadata as m; print(m.version('disentanglement-lib'), m.version('disent'), m.version('scikit-learn'))"
    try:
        output_of([str(python), "-c", code], "missing")
    except Problem:
        tell(f"installing disentanglement_lib, disent and what their metrics need into {venv}")
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        output_of([*pip, *REQUIREMENTS], "pip cannot install the libraries")
        output_of([*pip, "--no-deps", *WITHOUT_THEIR_REQUIREMENTS], "pip cannot install the libraries")
    return python


def make_table(python, path):
    """A full grid of dSprites' factors with fewer orientations and places: five noisy factors, mixed, and five of noise."""
    code = f"""
import numpy as np
rng = np.random.default_rng(1)
sizes = np.array([3, 6, 10, 16, 16])
factors = np.stack(np.unravel_index(np.arange(sizes.prod()), sizes), axis=1)
scaled = (factors - factors.mean(0)) / factors.std(0)
turn, _ = np.linalg.qr(np.eye(5) + 0.3 * rng.normal(size=(5, 5)))
codes = np.concatenate([scaled @ turn, np.zeros_like(scaled)], axis=1) + 0.2 * rng.normal(size=(len(scaled), 10))
order = rng.permutation(len(scaled))
np.savez({str(path)!r}, codes=codes[order].astype(np.float32), factors=factors[order], factor_sizes=sizes,
         train_rows=np.arange(10_000), test_rows=np.arange(10_000, 15_000))
"""
    output_of([str(python), "-c", code], "the table cannot be made")
    return path


def run_case(case, table, unbraid, python):
    before = our_seconds(case, table, unbraid)
    output = output_of([str(python), str(WORKER), str(table), case], f"the Python side of {case} failed")
    answer = json.loads(output.splitlines()[-1])
    ours = (before + our_seconds(case, table, unbraid)) / 2
    tell(f"{case}: {answer['seconds']:.2f} s in Python, {ours:.4f} s in unbraid")
    return {"python": answer["seconds"], "unbraid": ours, "ratio": answer["seconds"] / ours, "theirs": answer["scores"]}


def our_seconds(case, table, unbraid):
    command = [str(unbraid.absolute()), "bench", "metrics", str(table), "--metrics", ",".join(CASES[case]), "--json"]
    answer = json.loads(output_of(command, f"unbraid failed at {case}"))
    (times,) = answer.values()
    return times["together"] if len(CASES[case]) > 1 else times[CASES[case][0]]


def time_everything(table, unbraid):
    """Seconds of one `unbraid evaluate` with all metrics, and the scores."""
    began = time.monotonic()
    output = output_of([str(unbraid.absolute()), "evaluate", str(table), "--metrics", "all", "--json"], "unbraid failed")
    return time.monotonic() - began, json.loads(output)["scores"]


def table_rows(results):
    """The cells of the table as text, heading first."""
    yield ["metric", "Python s", "unbraid s", "ratio", "a score: Python", "unbraid"]
    for case, row in results["cases"].items():
        name, theirs = next(iter(row["theirs"].items()))
        ours = row["ours"][name]
        score = "-" if ours is None else f"{ours:.4f}"
        yield [case, f"{row['python']:.2f}", f"{row['unbraid']:.4f}", f"{row['ratio']:.0f}x", f"{theirs:.4f}", score]
    python, unbraid = (sum(row[side] for row in results["cases"].values()) for side in ["python", "unbraid"])
    yield ["together", f"{python:.2f}", f"{unbraid:.4f}", f"{python / unbraid:.0f}x", "", ""]


def markdown(rows):
    heading, *rows = rows
    yield f"| {' | '.join(heading)} |"
    yield "|---|" + "---:|" * (len(heading) - 1)
    for row in rows:
        yield f"| {' | '.join(row)} |"


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"error: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)
