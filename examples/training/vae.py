"""A variational autoencoder squeezes pictures into two numbers, and makes pictures of any two.

The pictures show a bright spot; two numbers, its place, are all there is to know. The sample of
the code is `mean + deviation * noise`, so that gradients pass through it.
"""

import torch
import torch.nn.functional as F
from torch import nn

SIDE = 10


def spots(count):
    places = 2 + (SIDE - 5) * torch.rand(count, 2)
    grid = torch.arange(SIDE, dtype=torch.float32)
    rows = torch.exp(-((grid - places[:, :1]) ** 2) / 3)
    columns = torch.exp(-((grid - places[:, 1:]) ** 2) / 3)
    return (rows.unsqueeze(2) * columns.unsqueeze(1)).flatten(1)


class VAE(nn.Module):
    def __init__(self, pixels, hidden=64, code=2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(pixels, hidden), nn.Tanh())
        self.mean = nn.Linear(hidden, code)
        self.log_variance = nn.Linear(hidden, code)
        self.decoder = nn.Sequential(nn.Linear(code, hidden), nn.Tanh(), nn.Linear(hidden, pixels))

    def forward(self, x):
        hidden = self.encoder(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        code = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        return self.decoder(code), mean, log_variance


torch.manual_seed(0)
images = spots(1000)
model = VAE(SIDE * SIDE)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(15):
    sums = torch.zeros(2)
    for batch in images[torch.randperm(len(images))].split(50):
        logits, mean, log_variance = model(batch)
        misfit = F.binary_cross_entropy_with_logits(logits, batch, reduction="sum")
        divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum()
        optimizer.zero_grad()
        (misfit + divergence).backward()
        optimizer.step()
        sums += torch.tensor([misfit.item(), divergence.item()])
    if epoch % 3 == 2:
        misfit, divergence = (sums / len(images)).tolist()
        print(f"epoch {epoch + 1:2d}  misfit {misfit:.2f}  divergence {divergence:.2f}")

with torch.no_grad():
    picture = model.decoder(torch.zeros(1, 2)).sigmoid().view(SIDE, SIDE)
for row in picture:
    print("".join(" .:oO@"[min(int(6 * pixel), 5)] for pixel in row.tolist()))
