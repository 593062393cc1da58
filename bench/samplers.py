"""Triplets by scaled L1 distance of factors: how many disent and unbraid draw in a second.

Both order triplets exactly: disent by Python's fractions, unbraid by whole numbers over a common denominator. disent is given the
factors alone, with no image behind them, and draws one triplet after another, as its dataset does within one worker.

    cargo build --release
    bench/.venv/bin/python bench/samplers.py    # the environment that the first run of bench/metrics.py makes
"""

import json
import pathlib
import subprocess
import time

import numpy as np
from disent.dataset.sampling._groundtruth__dist import GroundTruthDistSampler
from disent.dataset.util.state_space import StateSpace

UNBRAID = pathlib.Path(__file__).parent.parent / "target/release/unbraid"
SIZES = {"dsprites": [3, 6, 40, 32, 32], "xy_squares": [8] * 6}
SECONDS = 2.0


def disent_rate(sizes):
    """Triplets per second of disent's sampler, on one thread."""
    sampler = GroundTruthDistSampler(num_samples=3, triplet_sample_mode="manhattan_scaled")
    # Its dataset would be asked for these and nothing else.
    sampler._state_space = StateSpace(factor_sizes=sizes)
    n_images = len(sampler._state_space)
    np.random.seed(1)
    n_drawn, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        for anchor in np.random.randint(0, n_images, size=100):
            sampler._sample_idx(int(anchor))
        n_drawn += 100
    return n_drawn / (time.perf_counter() - began)


def main():
    command = [UNBRAID, "bench", "samplers", "--json", "--seconds", str(SECONDS)]
    ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(f"{'triplets/s':14}{'disent':>12}{'unbraid':>14}{'ratio':>10}")
    for dataset, sizes in SIZES.items():
        theirs, our = disent_rate(sizes), ours[dataset]["triplet"]
        print(f"{dataset:14}{theirs:>12,.0f}{our:>14,.0f}{our / theirs:>10,.0f}")


if __name__ == "__main__":
    main()
