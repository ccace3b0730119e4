"""A physics-informed network: solve a differential equation by making its residual small.

The equation is that of a damped oscillation, u'' + 2 d u' + k u = 0 with u(0) = 1, u'(0) = 0. The
derivatives in the loss are made with `create_graph=True`, so that the loss can be differentiated
again, by the weights.
"""

import math

import torch
from torch import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
DAMPING, STIFFNESS = 0.5, 9.0


def exact(t):
    omega = math.sqrt(STIFFNESS - DAMPING**2)
    return torch.exp(-DAMPING * t) * (torch.cos(omega * t) + DAMPING / omega * torch.sin(omega * t))


def derivative(u, t):
    return torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]


u_of = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(u_of.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.998)
t = torch.linspace(0, 2, 41)[:, None].requires_grad_()

for step in range(1000):
    u = u_of(t)
    velocity = derivative(u, t)
    acceleration = derivative(velocity, t)
    residual = acceleration + 2 * DAMPING * velocity + STIFFNESS * u
    start = (u[0] - 1).square() + velocity[0].square()
    loss = residual.square().mean() / 10 + start.sum()

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if step % 200 == 199:
        error = (u - exact(t)).abs().max()
        print(f"step {step + 1:4d}  loss {loss.item():.6f}  largest error {error.item():.4f}")
