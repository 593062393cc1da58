#!/usr/bin/env python3
"""One step of every objective, computed by PyTorch in double precision from the papers.

    python3 objectives.py inputs.json > values.json

All that is random is read from the inputs; `overrides` there replaces some of them for one objective. Layers are `x @ W + b`, the squared
error is summed over pixels and the KL over latents, and both are averaged over images. README.md tells what the papers leave open.
"""

import json
import sys

import torch

sys.dont_write_bytecode = True
import single  # noqa: F401, fills in OBJECTIVES, as does the next
import members
from problem import OBJECTIVES, Problem


def gradients(p, parts, total):
    """By every weight (0 where a weight is not used); a discriminator has an objective of its own."""
    own = parts.get("discriminator", total)
    by = lambda value: torch.autograd.grad(value, list(p.weights.values()), retain_graph=True, allow_unused=True, materialize_grads=True)
    main, second = by(total), by(own)
    of = lambda key, a, b: b if key.startswith("discriminator") else a
    return {key: of(key, a, b).tolist() for key, a, b in zip(p.weights, main, second) if not key.startswith("features")}


def values(inputs):
    out = {}
    for name, (function, layout) in OBJECTIVES.items():
        p = Problem(inputs, name, layout)
        parts, total = function(p)
        parts_out = {key: value.item() for key, value in parts.items()}
        out[name] = {"layout": layout, "parts": parts_out, "total": total.item(), "gradients": gradients(p, parts, total)}
    return out


if __name__ == "__main__":
    members.check_formulas()
    with open(sys.argv[1]) as file:
        json.dump(values(json.load(file)), sys.stdout, indent=1)
