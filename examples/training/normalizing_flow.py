"""A normalising flow: bend a Gaussian into two moons, and know the density everywhere.

Each layer shifts and scales one coordinate by amounts that depend on the other, so that it is
undone exactly and the determinant of its Jacobian is the product of the scales.
"""

import math

import torch
from torch import nn


def moons(count):
    angle = math.pi * torch.rand(count)
    upper = torch.rand(count) < 0.5
    sign = torch.where(upper, 1.0, -1.0)
    points = torch.stack([sign * angle.cos() - sign / 2, sign * angle.sin() - sign / 4], dim=1)
    return points + 0.08 * torch.randn(count, 2)


class Coupling(nn.Module):
    def __init__(self, keep, hidden=32):
        super().__init__()
        self.keep = keep
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def forward(self, x):
        kept, moved = x[:, self.keep], x[:, 1 - self.keep]
        shift, scale = self.net(kept[:, None]).unbind(1)
        scale = torch.tanh(scale)
        return self.joined(kept, (moved - shift) * torch.exp(-scale)), -scale

    def inverse(self, z):
        kept, moved = z[:, self.keep], z[:, 1 - self.keep]
        shift, scale = self.net(kept[:, None]).unbind(1)
        return self.joined(kept, moved * torch.exp(torch.tanh(scale)) + shift)

    def joined(self, kept, moved):
        return torch.stack([kept, moved] if self.keep == 0 else [moved, kept], dim=1)


class Flow(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(n % 2) for n in range(layers))
        self.base = torch.distributions.Normal(0.0, 1.0)

    def log_prob(self, x):
        log_det = torch.zeros(len(x))
        for layer in self.layers:
            x, change = layer(x)
            log_det = log_det + change
        return self.base.log_prob(x).sum(dim=1) + log_det

    def sample(self, count):
        z = self.base.sample((count, 2))
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


torch.manual_seed(0)
flow = Flow(layers=6)
optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)

for step in range(300):
    loss = -flow.log_prob(moons(128)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1}  negative log-likelihood {loss.item():.3f}")

with torch.no_grad():
    steps = torch.linspace(-3, 3, 121)
    grid = torch.cartesian_prod(steps, steps)
    mass = flow.log_prob(grid).exp().sum() * 0.05**2
    print(f"the density integrates to {mass:.3f}")
    print("mean", flow.sample(2000).mean(dim=0), "of the moons", moons(2000).mean(dim=0))
