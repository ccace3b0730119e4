"""Gradients are tensors too: create_graph=True records the backward pass as a graph of its own."""

import torch

# y = x ** 4: dy/dx = 4 x ** 3, then 12 x ** 2, then 24 x.
x = torch.tensor(2.0, requires_grad=True)
y = x**4
for order in (1, 2, 3):
    (y,) = torch.autograd.grad(y, x, create_graph=True)
    print("derivative", order, y)

# Without create_graph the gradient is a plain value that knows no history.
(plain,) = torch.autograd.grad(x**4, x)
print(plain, plain.requires_grad)

# A penalty on the slope of f(w) = sin(w): the loss contains a gradient, and backward goes through.
w = torch.tensor([0.5, 1.0], requires_grad=True)
(slope,) = torch.autograd.grad(w.sin().sum(), w, create_graph=True)
print(slope)
penalty = (slope**2).sum()
penalty.backward()
print(w.grad)  # d cos(w) ** 2 / d w = -2 cos(w) sin(w)
