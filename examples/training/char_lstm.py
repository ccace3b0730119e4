"""Learn to spell: an LSTM that predicts the next character of a text.

The text is read in several columns at once, a few characters at a time. The state is carried from
one piece to the next, but detached: gradients flow through one piece only.
"""

import torch
from torch import nn

TEXT = """\
Every step leaves a node behind, and every node remembers where it came from.
Walk back along the edges, and each one hands you a part of the blame.
What arrives at a leaf is added up, and the sum says which way is down.
Take a small step down, forget the path, and draw a new one.
Nothing is planned ahead: the path is drawn by walking.
Where it forks, both branches share what comes back, and where they meet again, it is added.
So the last word knows about the first, however long the way between them was.
"""

letters = sorted(set(TEXT))
code = torch.tensor([letters.index(letter) for letter in TEXT])
COLUMNS, PIECE = 8, 12


class Speller(nn.Module):
    def __init__(self, letters, width=64):
        super().__init__()
        self.embedding = nn.Embedding(letters, 16)
        self.lstm = nn.LSTM(16, width, batch_first=True)
        self.head = nn.Linear(width, letters)

    def forward(self, x, state=None):
        hidden, state = self.lstm(self.embedding(x), state)
        return self.head(hidden), state


def write(model, start, count):
    """Continue `start`, always with the likeliest character."""
    x, state, written = torch.tensor([[letters.index(s) for s in start]]), None, start
    with torch.no_grad():
        for _ in range(count):
            scores, state = model(x, state)
            x = scores[:, -1:].argmax(-1)
            written += letters[x.item()]
    return written


torch.manual_seed(0)
model = Speller(len(letters))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
length = (len(code) - 1) // COLUMNS
x = code[: COLUMNS * length].view(COLUMNS, length)
y = code[1 : COLUMNS * length + 1].view(COLUMNS, length)

for epoch in range(30):
    state, losses = None, []
    for piece, due in zip(x.split(PIECE, 1), y.split(PIECE, 1), strict=True):
        scores, state = model(piece, state)
        state = tuple(s.detach() for s in state)
        loss = nn.functional.cross_entropy(scores.transpose(1, 2), due)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d}  loss {torch.stack(losses).mean():.3f}")

print(repr(write(model, "Every step", 30)))
