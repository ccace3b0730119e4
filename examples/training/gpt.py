"""A small GPT learns to sort: after eight digits it writes the same digits in order.

A transformer decoder with causal attention, trained by AdamW; the learning rate rises for a few
steps and then follows a cosine. Only weight matrices decay.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

DIGITS, LENGTH = 6, 8
STEPS, WARMUP = 120, 10


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, words, length, width=48, heads=4, layers=2):
        super().__init__()
        self.word = nn.Embedding(words, width)
        self.place = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.word.weight  # tied
        self.apply(self.initialise)

    @staticmethod
    def initialise(module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, x):
        places = torch.arange(x.shape[1])
        return self.head(self.norm(self.blocks(self.word(x) + self.place(places))))


def examples(count):
    """Digits and then the same digits sorted; the model is judged on the second half alone."""
    digits = torch.randint(DIGITS, (count, LENGTH))
    line = torch.cat([digits, digits.sort(dim=1).values], dim=1)
    x, y = line[:, :-1], line[:, 1:].clone()
    y[:, : LENGTH - 1] = -100  # what cross_entropy ignores
    return x, y


def rate(step):
    if step < WARMUP:
        return (step + 1) / WARMUP
    return 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / (STEPS - WARMUP)))


torch.manual_seed(0)
model = GPT(DIGITS, 2 * LENGTH)
matrices = [p for p in model.parameters() if p.dim() >= 2]
vectors = [p for p in model.parameters() if p.dim() < 2]
groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=5e-3, betas=(0.9, 0.95))
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)

for step in range(STEPS):
    x, y = examples(32)
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 20 == 0 or step == STEPS - 1:
        now = schedule.get_last_lr()[0]
        print(f"step {step:3d}  rate {now:.5f}  loss {loss.item():.3f}")
    schedule.step()

digits = torch.tensor([[5, 2, 0, 3, 3, 1, 5, 4]])
line = digits
with torch.no_grad():
    for _ in range(LENGTH):
        line = torch.cat([line, model(line)[:, -1:].argmax(-1)], dim=1)
print(digits[0].tolist(), "->", line[0, LENGTH:].tolist())
