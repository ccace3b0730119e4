"""Every backward pass adds to .grad; starting afresh is up to you."""

import torch

w = torch.tensor([1.0, -2.0], requires_grad=True)
print("before", w.grad)

for step in range(3):
    (w**2).sum().backward()
    print("pass", step + 1, w.grad)

# Adding is what makes a large batch equal to the sum of small ones.
batch = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
w.grad = None
(batch * w).sum().backward()
print("whole batch", w.grad)

w.grad.zero_()
for row in batch:
    (row * w).sum().backward()
print("row by row", w.grad)

# zero_ keeps the tensor and clears it; None lets the next pass make a new one.
w.grad.zero_()
print("zeroed", w.grad)
w.grad = None
print("dropped", w.grad)
