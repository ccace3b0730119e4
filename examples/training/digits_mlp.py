"""Classify digits with a multilayer perceptron.

The images are made here: a digit of a 5 x 3 font, somewhere in a picture of 7 x 5, under noise.
"""

import torch
from torch import nn

FONT = """
111 010 111 111 101 111 111 111 111 111
101 110 001 001 101 100 100 001 101 101
101 010 111 111 111 111 111 010 111 111
101 010 100 001 001 001 101 010 101 001
111 111 111 111 001 111 111 010 111 111
"""
ROWS = [[[int(bit) for bit in word] for word in line.split()] for line in FONT.strip().split("\n")]
GLYPHS = torch.tensor(ROWS, dtype=torch.float32).transpose(0, 1)  # digit, row, column


def pictures(count):
    labels = torch.randint(10, (count,))
    images = 0.2 * torch.randn(count, 7, 5)
    corners = torch.stack([torch.randint(3, (count,)), torch.randint(3, (count,))], dim=1)
    for image, label, (top, left) in zip(images, labels, corners.tolist(), strict=True):
        image[top : top + 5, left : left + 3] += GLYPHS[label]
    return images, labels


torch.manual_seed(0)
images, labels = pictures(3000)
test_images, test_labels = pictures(500)

model = nn.Sequential(
    nn.Flatten(),
    nn.Linear(35, 128),
    nn.ReLU(),
    nn.Linear(128, 64),
    nn.ReLU(),
    nn.Linear(64, 10),
)
loss_of = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(8):
    total = 0.0
    for batch in torch.randperm(len(images)).split(50):
        loss = loss_of(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)

    with torch.no_grad():
        right = (model(test_images).argmax(dim=1) == test_labels).float().mean()
    print(f"epoch {epoch + 1}  loss {total / len(images):.4f}  accuracy {right:.3f}")
