"""Two networks play against each other until one of them can draw a ring.

The generator turns noise into points; the discriminator tells them from points on a circle. Each
has its own optimiser, and `detach` keeps the discriminator's step away from the generator.
"""

import math

import torch
from torch import nn


def ring(count):
    angle = 2 * math.pi * torch.rand(count)
    return torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(count, 2)


torch.manual_seed(0)
torch.set_default_dtype(torch.float64)  # the game makes rounding errors grow
NOISE = 4
generator = nn.Sequential(
    nn.Linear(NOISE, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2)
)
discriminator = nn.Sequential(
    nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)
)
loss_of = nn.BCEWithLogitsLoss()
generator_step = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
discriminator_step = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
true, false = torch.ones(64, 1), torch.zeros(64, 1)

for step in range(600):
    drawn = generator(torch.randn(64, NOISE))

    judged = loss_of(discriminator(ring(64)), true)
    judged = judged + loss_of(discriminator(drawn.detach()), false)
    discriminator_step.zero_grad()
    judged.backward()
    discriminator_step.step()

    fooled = loss_of(discriminator(drawn), true)
    generator_step.zero_grad()
    fooled.backward()
    generator_step.step()

    if step % 100 == 99:
        radius = drawn.detach().norm(dim=1)
        print(
            f"step {step + 1}  discriminator {judged.item():.3f}  generator {fooled.item():.3f}  "
            f"radius {radius.mean():.3f} ± {radius.std():.3f}"
        )
