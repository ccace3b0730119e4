"""Fit a decaying oscillation to noisy measurements with L-BFGS.

Few parameters and a smooth function of all data: a quasi-Newton method needs a few dozen
evaluations where gradient descent takes thousands. It asks for them through a closure.
"""

import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

t = torch.linspace(0, 10, 101)
names = ["height", "decay", "frequency", "phase", "offset"]
true = torch.tensor([2.0, 0.25, 1.6, 0.5, 0.3])


def oscillation(p, t):
    height, decay, frequency, phase, offset = p
    return height * torch.exp(-decay * t) * torch.cos(frequency * t + phase) + offset


seen = oscillation(true, t) + 0.05 * torch.randn(t.shape)
p = torch.tensor([1.0, 0.1, 1.5, 0.0, 0.0], requires_grad=True)
optimizer = torch.optim.LBFGS([p], max_iter=5, line_search_fn="strong_wolfe")
evaluations = 0


def closure():
    global evaluations
    evaluations += 1
    optimizer.zero_grad()
    loss = (oscillation(p, t) - seen).square().mean()
    loss.backward()
    return loss


for step in range(6):
    loss = optimizer.step(closure)  # the loss before the step
    print(f"step {step}  loss {loss.item():.6f}  evaluations {evaluations}")

residual = closure()
curvature = torch.autograd.functional.hessian(
    lambda p: (oscillation(p, t) - seen).square().sum() / 2, p.detach()
)
errors = residual.detach().sqrt() * torch.linalg.inv(curvature).diagonal().sqrt()
rows = zip(names, p.tolist(), errors.tolist(), true.tolist(), strict=True)
for name, value, error, truth in rows:
    print(f"{name:10s}{value:.4f} ± {error:.4f}  (true: {truth})")
