"""Learning is gradients in a loop: fit y = 2x + 1 with tensors alone."""

import torch

x = torch.linspace(-1, 1, 21)
target = 2 * x + 1

w = torch.zeros((), requires_grad=True)
b = torch.zeros((), requires_grad=True)
learning_rate = 0.5

for step in range(20):
    loss = ((w * x + b - target) ** 2).mean()
    loss.backward()

    # The update is not part of the function to be learned, so it is not recorded.
    with torch.no_grad():
        w -= learning_rate * w.grad
        b -= learning_rate * b.grad
    w.grad = None
    b.grad = None

    if step % 4 == 0:
        print(f"step {step:2d}  loss {loss.item():.4f}  w {w.item():.3f}  b {b.item():.3f}")

print(loss.grad_fn)
print(w.is_leaf, b.is_leaf)
print(f"y = {w.item():.2f}x + {b.item():.2f}")
