"""Hooks look at gradients on their way, and may replace them."""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
z = (y**2).sum()


def watch(grad):
    """Returns nothing, so the gradient goes on as it is."""
    print("y gets", grad)


watching = y.register_hook(watch)
halving = y.register_hook(lambda grad: grad / 2)
x.register_hook(lambda grad: grad.clamp(max=10.0))

z.backward(retain_graph=True)
print("halved, then clipped", x.grad)

# A hook can be taken away again.
watching.remove()
halving.remove()
x.grad = None
z.backward()
print("only clipped", x.grad)

# A leaf can also be told that its gradient is complete: a place to take the step at once.
w = torch.tensor(5.0, requires_grad=True)


def step(leaf):
    """One step of gradient descent, after which the gradient is not needed any more."""
    with torch.no_grad():
        leaf -= 0.1 * leaf.grad
    leaf.grad = None


w.register_post_accumulate_grad_hook(step)
for _ in range(3):
    (w**2).backward()
    print(w, w.grad)
