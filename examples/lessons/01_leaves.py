"""Leaves and intermediates: who makes a tensor decides what it is.

A tensor that you make yourself is a leaf: nothing computed it, so its grad_fn is None. A tensor
that an operation makes from something that requires a gradient is an intermediate: its grad_fn is
the node of the graph that made it.
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)  # a leaf that wants a gradient
b = torch.tensor([3.0, 4.0])  # a leaf that does not
c = a * b
d = c.sum()
e = b * 2  # nothing here requires a gradient, so nothing is recorded

for name, tensor in [("a", a), ("b", b), ("c", c), ("d", d), ("e", e)]:
    print(name, "leaf" if tensor.is_leaf else "intermediate", tensor.requires_grad, tensor.grad_fn)

print(a)
print(c)
print(d)
print(e)

# The backward pass fills in the gradients of the leaves that asked for one.
d.backward()
print("a.grad", a.grad)
print("b.grad", b.grad)
