"""Learn what is alike: a triplet loss draws pictures of one class together and others apart.

The same network embeds an anchor, a picture of its class and one of another class. New pictures
are then classified by the nearest example, with classes that the network was never trained on too.
"""

import torch
import torch.nn.functional as F
from torch import nn

CLASSES, TRAINED, KINDS, SIZE = 80, 60, 6, 30


def pictures(patterns, labels):
    """Noisy pictures of the patterns, as bright as they happen to be."""
    brightness = 0.5 + torch.rand(len(labels), 1)
    return brightness * patterns[labels] + 2.0 * torch.randn(len(labels), SIZE)


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(SIZE, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def accuracy(embed, patterns, classes):
    """How often the nearest of twenty examples, one of each class, is of the right one."""
    known = embed(pictures(patterns, classes))
    labels = classes.repeat(20)
    near = (embed(pictures(patterns, labels)) @ known.T).argmax(dim=1)
    return (classes[near] == labels).float().mean().item()


torch.manual_seed(0)
patterns = torch.randn(CLASSES, KINDS) @ torch.randn(KINDS, SIZE)  # alike in few ways
embed = Embedding()
loss_of = nn.TripletMarginLoss(margin=0.5)
optimizer = torch.optim.Adam(embed.parameters(), lr=3e-3)

for step in range(401):
    labels = torch.randint(TRAINED, (64,))
    others = (labels + torch.randint(1, TRAINED, (64,))) % TRAINED
    anchor, positive = pictures(patterns, labels), pictures(patterns, labels)
    negative = pictures(patterns, others)
    loss = loss_of(embed(anchor), embed(positive), embed(negative))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        with torch.no_grad():
            seen = accuracy(embed, patterns, torch.arange(20))
            new = accuracy(embed, patterns, torch.arange(TRAINED, CLASSES))
        print(f"step {step:3d}  loss {loss.item():.4f}  accuracy {seen:.3f}, new classes {new:.3f}")
