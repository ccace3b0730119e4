"""MAML: learn weights from which one gradient step fits a new task.

A task is a sine wave of its own height and phase, known at ten points. The inner step is part of
what is differentiated: `create_graph=True` records it.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

INNER_RATE, TASKS = 0.05, 4


def wave():
    height, phase = 1 + 2 * torch.rand(()), math.pi * torch.rand(())

    def points(count):
        x = 10 * torch.rand(count, 1) - 5
        return x, height * torch.sin(x + phase)

    return points


def adapted(model, x, y):
    """The parameters after one gradient step on (x, y), as functions of the model's own."""
    parameters = dict(model.named_parameters())
    loss = F.mse_loss(functional_call(model, parameters, (x,)), y)
    grads = torch.autograd.grad(loss, parameters.values(), create_graph=True)
    return {
        name: parameter - INNER_RATE * grad
        for (name, parameter), grad in zip(parameters.items(), grads, strict=True)
    }


def loss_after_step(model, points):
    parameters = adapted(model, *points(10))
    x, y = points(10)
    return F.mse_loss(functional_call(model, parameters, (x,)), y)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
waves = [wave() for _ in range(50)]

for step in range(301):
    loss = sum(loss_after_step(model, wave()) for _ in range(TASKS)) / TASKS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        after = torch.stack([loss_after_step(model, points).detach() for points in waves])
        print(f"step {step:3d}  loss on new waves after one gradient step {after.mean():.3f}")
