"""Classify digits with a convolutional network, fed by a data loader.

A digit of a 5 x 3 font lies anywhere in a noisy picture of 12 x 8. Convolutions share what they
learn among all places, so that a small network does.
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

FONT = """
111 010 111 111 101 111 111 111 111 111
101 110 001 001 101 100 100 001 101 101
101 010 111 111 111 111 111 010 111 111
101 010 100 001 001 001 101 010 101 001
111 111 111 111 001 111 111 010 111 111
"""
ROWS = [[[int(bit) for bit in word] for word in line.split()] for line in FONT.strip().split("\n")]
GLYPHS = torch.tensor(ROWS, dtype=torch.float64).transpose(0, 1)  # digit, row, column


class Digits(Dataset):
    def __init__(self, count):
        self.labels = torch.randint(10, (count,))
        self.images = 0.2 * torch.randn(count, 1, 12, 8)
        corners = torch.stack([torch.randint(8, (count,)), torch.randint(6, (count,))], dim=1)
        places = zip(self.images, self.labels, corners.tolist(), strict=True)
        for image, label, (top, left) in places:
            image[0, top : top + 5, left : left + 3] += GLYPHS[label]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, kernel_size=3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, kernel_size=3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(32)
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(32 * 3 * 2, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        return self.head(self.dropout(x.flatten(1)))


def accuracy(model, data):
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in DataLoader(data, 250))
    model.train()
    return right / len(data)


torch.manual_seed(0)
torch.set_default_dtype(torch.float64)  # rounding errors grow through the kinks of pooling
data, test_data = Digits(2000), Digits(500)
loader = DataLoader(data, batch_size=50, shuffle=True)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.4)

print(sum(p.numel() for p in model.parameters()), "parameters")
for epoch in range(6):
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    rate = schedule.get_last_lr()[0]
    schedule.step()
    print(
        f"epoch {epoch + 1}  rate {rate:.5f}  loss {sum(losses) / len(losses):.4f}  "
        f"accuracy {accuracy(model, test_data):.3f}"
    )
