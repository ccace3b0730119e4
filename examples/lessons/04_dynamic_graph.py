"""The graph is what ran: branches, loops and recursion are ordinary Python."""

import torch


def branch(x):
    """2x for positive x, x squared otherwise: only the branch taken is recorded."""
    if x > 0:
        return x * 2
    return x**2


for value in (3.0, -3.0):
    x = torch.tensor(value, requires_grad=True)
    y = branch(x)
    y.backward()
    print(f"branch({value}) = {y.item()}, by {y.grad_fn.name()}, gradient {x.grad.item()}")


def power(x, n):
    """x to the n by repeated multiplication: n - 1 nodes."""
    y = x
    for _ in range(n - 1):
        y = y * x
    return y


for n in (1, 2, 5):
    x = torch.tensor(2.0, requires_grad=True)
    power(x, n).backward()
    print(f"power(x, {n}) has gradient {x.grad}")  # n * x ** (n - 1)


def until_large(x):
    """Doubles until the value passes 100: the data decides how long the graph gets."""
    return x if x > 100 else until_large(x * 2)


x = torch.tensor(7.0, requires_grad=True)
y = until_large(x)
y.backward()
print(y)
print(x.grad)
