"""Two ways to leave the graph: detach() cuts one tensor loose, no_grad() records nothing at all."""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)

# The detached tensor is a constant: the gradient is that of c * x, which is c, not 2x.
c = x.detach()
print(c, c.requires_grad, c.grad_fn)
(c * x).sum().backward()
print("with detach", x.grad)

# It shares its memory with x, and a change through one is seen through the other.
c[0] = 10.0
print(x)

# Under no_grad the same operations run and make no nodes.
with torch.no_grad():
    y = x * 2
    print(y, y.grad_fn, torch.is_grad_enabled())
    with torch.enable_grad():
        print(x * 2)
print(x * 2)


@torch.no_grad()
def predict(x):
    """As a decorator: nothing inside is recorded."""
    return x.exp()


print(predict(x).requires_grad)

# A result without history has nothing to walk back.
try:
    y.sum().backward()
except RuntimeError as error:
    print(type(error).__name__, "-", str(error)[:42])
