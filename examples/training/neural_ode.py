"""A neural ODE: learn a law of motion from a path, through a solver written in a loop.

The network says how fast the state changes; Runge-Kutta steps turn that into a path. The solver is
ordinary code, so its gradient is there without a word about it.
"""

import torch
from torch import nn

torch.manual_seed(0)
times = torch.linspace(0, 3, 31)
turn = torch.tensor([[-0.2, 2.0], [-2.0, -0.2]])


class Law(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def forward(self, y):
        return self.net(y)


def path(law, y, times):
    """The states at `times`, by the classical Runge-Kutta method."""
    states = [y]
    for step in times.diff():
        k1 = law(y)
        k2 = law(y + step / 2 * k1)
        k3 = law(y + step / 2 * k2)
        k4 = law(y + step * k3)
        y = y + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(y)
    return torch.stack(states)


start = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
with torch.no_grad():
    seen = path(lambda y: y @ turn.T, start, times)

law = Law()
optimizer = torch.optim.Adam(law.parameters(), lr=2e-2)
for step in range(100):
    loss = (path(law, start, times) - seen).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step + 1:3d}  loss {loss.item():.4f}")

with torch.no_grad():
    fresh = torch.tensor([[1.5, 0.5]])
    print("learned ", path(law, fresh, times)[-1])
    print("true    ", path(lambda y: y @ turn.T, fresh, times)[-1])
