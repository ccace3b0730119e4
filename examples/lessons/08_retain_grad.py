"""Gradients of intermediates pass through and are dropped, unless retain_grad() keeps them."""

import warnings

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
z = y**2
z.retain_grad()
print(y.retains_grad, z.retains_grad)

z.sum().backward()
print("x.grad", x.grad)
print("z.grad", z.grad)

# Asking an intermediate that kept nothing gives None and a warning (which goes on).
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print("y.grad", y.grad)
for warning in caught:
    print(warning.category.__name__, "-", str(warning.message)[:75])

# autograd.grad returns the gradient of any tensor of the graph and leaves every .grad alone.
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
(gradient,) = torch.autograd.grad((y**2).sum(), y)
print("d z / d y", gradient)
print("x.grad", x.grad)
