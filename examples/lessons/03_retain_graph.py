"""A graph is freed by the backward pass that uses it, unless you ask to retain it."""

import torch

# Kept once, the graph of x ** 3 serves two passes, and their gradients add up: 12, then 24.
x = torch.tensor(2.0, requires_grad=True)
y = x**3
y.backward(retain_graph=True)
print("first pass", x.grad)
y.backward()
print("second pass", x.grad)

# The second pass did not retain it, so what the graph had saved is gone. (The message goes on.)
try:
    y.backward()
except RuntimeError as error:
    print(type(error).__name__, "-", str(error)[:50])

# Nothing was added by the pass that failed.
print("after the error", x.grad)

# A new forward pass makes a new graph.
y = x**3
y.backward()
print("a new graph", x.grad)
