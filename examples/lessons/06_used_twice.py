"""A tensor used twice gets a gradient along each use, and they add up."""

import torch

# x * x uses x as both factors: x + x = 2x.
x = torch.tensor(3.0, requires_grad=True)
y = x * x
y.backward()
print("x * x at 3:", x.grad)

# Here x reaches b along two paths: through a, and directly. 2x + 1 = 3 at 1.
x = torch.tensor(1.0, requires_grad=True)
a = x * x
b = a + x
print(type(a.grad_fn).__name__, type(b.grad_fn).__name__)

b.backward()
print(x.grad.item())
