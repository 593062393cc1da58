"""Five steps of PyTorch's optimisers on three values, for the test at the bottom of crates/learn/src/optimisers/mod.rs.

python3 reference/optimisers.py (made with torch 2.15.0, in f64)
"""

import torch

GRADIENTS = [[2.0, -0.3, 0.01], [-1.0, 0.2, 0.02], [0.5, 0.0, -0.03], [3.0, -4.0, 0.04], [-0.25, 1.0, 0.05]]

for optimiser, settings in [
    (torch.optim.Adam, {}),
    (torch.optim.AdamW, {}),
    (torch.optim.AdamW, {"weight_decay": 0.5}),
    (torch.optim.Adagrad, {}),
    (torch.optim.RMSprop, {}),
    (torch.optim.RMSprop, {"alpha": 0.9, "eps": 1e-3}),
    (torch.optim.SGD, {}),
    (torch.optim.SGD, {"momentum": 0.9}),
    (torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
]:
    values = torch.tensor([1.0, -0.5, 2.0], dtype=torch.float64, requires_grad=True)
    steps = optimiser([values], lr=0.1, **settings)
    for gradient in GRADIENTS:
        values.grad = torch.tensor(gradient, dtype=torch.float64)
        steps.step()
    print(optimiser.__name__, settings, [round(value, 9) for value in values.tolist()])
