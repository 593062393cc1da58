#!/usr/bin/env python3
"""A sweep of many tiny runs, undisturbed and with workers and the sweep itself killed at random: every run exactly once, the same bytes.

    python3 bench/sweep.py [--runs 1000] [--jobs 2] [--seed 1]
    python3 bench/sweep.py --runs 0                    # only what follows

Also measures what a sweep costs beside its runs (against `unbraid train` of the same configs, one after another), and how long it takes to list finished runs.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SWEEP = """
best = "mig"
[base]
rows = 64
metrics = [{{ name = "mig" }}]
[base.dataset]
name = "xy_squares"
squares = 1
rgb = false
[base.framework]
name = "beta_vae"
[base.model]
name = "mlp"
latents = 2
encoder = [8]
decoder = [8]
[base.training]
steps = {steps}
batch_size = 8
checkpoint_every = {every}
[grid]
seed = [{seeds}]
framework.beta = [0.5, 1.0, 2.0, 4.0]
"""

SAME = ["config.toml", "losses.csv", "model.safetensors", "codes.npy", "factors.npy", "scores.json", "dataset.json", "posteriors.csv"]


def sweep_file(folder, runs, steps):
    seeds = ", ".join(str(seed) for seed in range(1, runs // 4 + 1))
    path = folder / "many.toml"
    path.write_text(SWEEP.format(seeds=seeds, steps=steps, every=max(1, steps // 4)))
    return path


def digests(out):
    """What every run left, by its name."""
    runs = {}
    for run in sorted(path for path in out.iterdir() if path.name != "sweeps"):
        digest = hashlib.sha256()
        for name in SAME:
            digest.update((run / name).read_bytes())
        # Nothing half written is left behind.
        left = [str(path) for path in run.rglob("*") if ".tmp-" in path.name]
        assert not left, left
        runs[run.name] = digest.hexdigest()
    return runs


def workers_of(process):
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def disturbed(binary, file, out, jobs, rng):
    """Starts the sweep again and again, and kills now it, now some of its workers. Finished runs must stay the very files they were. A run whose process was killed three times counts as failed, and is tried again."""
    kills = {"sweep": 0, "worker": 0, "run three times": 0}
    finished = {}
    began = time.time()
    while True:
        process = subprocess.Popen([binary, "sweep", file, "--out", out, "--jobs", str(jobs), "--retry-failed"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        until = time.time() + rng.uniform(0.5, 15.0)
        while time.time() < until and process.poll() is None:
            time.sleep(rng.uniform(0.01, 0.4))
            children = workers_of(process.pid)
            if children and rng.random() < 0.5:
                try:
                    os.kill(rng.choice(children), signal.SIGKILL)
                    kills["worker"] += 1
                except ProcessLookupError:
                    pass
        if process.poll() is not None:
            errors = process.stderr.read().decode()
            failed = [line for line in errors.splitlines() if line.startswith("failed: ")]
            if process.returncode == 0:
                break
            assert failed and all("its process was ended 3 times" in line for line in failed), (process.returncode, errors[-2000:])
            kills["run three times"] += len(failed)
        else:
            process.kill()
            process.wait()
            kills["sweep"] += 1
        for page in out.glob("*/report.html"):
            number = page.stat().st_ino, page.stat().st_mtime_ns
            assert finished.setdefault(page.parent.name, number) == number, f"{page} was written again"
    for name, number in finished.items():
        page = (out / name / "report.html").stat()
        assert (page.st_ino, page.st_mtime_ns) == number, f"{name} was written again"
    return kills, time.time() - began


def own_secs(run):
    """Seconds from a run's first file to its last: what it takes by itself, wherever it is started."""
    return (run / "status.json").stat().st_mtime - (run / "config.toml").stat().st_mtime


def beside(binary, folder, n_runs, n_turns):
    """Milliseconds that a run takes beside its own time, in a sweep of one job and by `unbraid train` of the same configs one after another, in each of several turns. The time of the runs themselves is taken away, since it differs by more from one moment to the next."""
    sweeps, trains, own = [], [], ([], [])
    for turn in range(n_turns):
        file = sweep_file(folder, n_runs, 5)
        out, alone = folder / f"sweep-{turn}", folder / f"train-{turn}"
        began = time.time()
        subprocess.run([binary, "sweep", file, "--out", out, "--jobs", "1", "--threads", "1"], check=True, capture_output=True)
        secs = time.time() - began
        runs = sorted(path for path in out.iterdir() if path.name != "sweeps")
        of_runs = [own_secs(run) for run in runs]
        sweeps.append((secs - sum(of_runs)) / len(runs) * 1000)
        own[0].extend(of_runs)
        began = time.time()
        for run in runs:
            subprocess.run([binary, "train", run / "config.toml", "--out", alone / run.name, "--threads", "1"], check=True, capture_output=True)
        secs = time.time() - began
        of_runs = [own_secs(alone / run.name) for run in runs]
        trains.append((secs - sum(of_runs)) / len(runs) * 1000)
        own[1].extend(of_runs)
    return sweeps, trains, own


def listing(binary, folder, runs, n_listed):
    """Seconds to list many finished runs: those of a plan, with the scores of one that was trained."""
    out = folder / "listed"
    file = sweep_file(folder, n_listed, 7)
    subprocess.run([binary, "sweep", file, "--out", out, "--export", "commands"], check=True, capture_output=True)
    one = next(path for path in runs.iterdir() if path.name != "sweeps")
    planned = [json.loads(line) for line in (out / "sweeps/many/plan.jsonl").read_text().splitlines()]
    names = [run["name"] for run in planned]
    for run in planned:
        (out / run["name"]).mkdir()
        # A run's own config names the seed of its rows: without it the run is taken for one of an earlier version.
        (out / run["name"] / "config.toml").write_text("rows_seed = 1\n" + run["config"])
        for kept in ["status.json", "scores.json", "report.html"]:
            os.link(one / kept, out / run["name"] / kept)
    times = []
    for _ in range(3):
        began = time.time()
        said = subprocess.run([binary, "sweep", "status", out / "sweeps/many"], check=True, capture_output=True, text=True).stdout
        times.append(time.time() - began)
    assert said.startswith(f"{len(names)} runs: {len(names)} finished"), said[:200]
    began = time.time()
    subprocess.run([binary, "sweep", file, "--out", out], check=True, capture_output=True)
    return len(names), min(times), time.time() - began


def killed(arguments, folder):
    """Every run once, with the same bytes, whatever is killed."""
    file = sweep_file(folder, arguments.runs, arguments.steps)
    began = time.time()
    subprocess.run([arguments.binary, "sweep", file, "--out", folder / "calm", "--jobs", str(arguments.jobs)], check=True, capture_output=True)
    calm = digests(folder / "calm")
    print(f"undisturbed: {len(calm)} runs in {time.time() - began:.0f} s", flush=True)
    kills, secs = disturbed(arguments.binary, file, folder / "wild", arguments.jobs, random.Random(arguments.seed))
    wild = digests(folder / "wild")
    print(f"disturbed: {kills['sweep']} kills of the sweep and {kills['worker']} of workers, {kills['run three times']} times three of the same run; {len(wild)} runs in {secs:.0f} s", flush=True)
    assert calm == wild, "the bytes differ"
    print(f"the same bytes of all {len(wild)} runs, each finished once")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--listed", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary", default=str(Path(__file__).resolve().parent.parent / "target/release/unbraid"))
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="unbraid-sweep-"))
    try:
        if arguments.runs > 0:
            killed(arguments, folder)
        file = sweep_file(folder, 4, arguments.steps)
        subprocess.run([arguments.binary, "sweep", file, "--out", folder / "few"], check=True, capture_output=True)
        n_listed, secs, again = listing(arguments.binary, folder, folder / "few", arguments.listed)
        print(f"listing {n_listed} finished runs: {secs:.2f} s; starting a sweep in which all are finished: {again:.2f} s", flush=True)
        sweeps, trains, own = beside(arguments.binary, folder, 40, 5)
        told = [f"{statistics.median(times):.1f} ms ({min(times):.1f} to {max(times):.1f})" for times in (sweeps, trains)]
        print(f"beside its own time a run takes {told[0]} in a sweep and {told[1]} by `unbraid train`: {statistics.median(sweeps) - statistics.median(trains):+.1f} ms; five turns of 40 runs")
        print(f"their own time, which other work on the machine moves: {statistics.median(own[0]) * 1000:.0f} ms and {statistics.median(own[1]) * 1000:.0f} ms")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
