"""One neuron by hand: the gradient of a loss with respect to x, w and b.

    z = w * x,  y = z + b,  loss = y ** 2

The backward pass applies the chain rule from the loss down:

    d loss / d y = 2 y = 14,  d loss / d b = 14,  d loss / d w = 14 x,  d loss / d x = 14 w
"""

import torch

x = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)

z = w * x
y = z + b
loss = y**2

print("z", z)
print("y", y)
print("loss", loss)

loss.backward()

print("x.grad", x.grad)
print("w.grad", w.grad)
print("b.grad", b.grad)
