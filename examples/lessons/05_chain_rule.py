"""z = exp(3x) at x = 2: two nodes, one chain.

dz/dx = exp(3x) * 3: the node of exp multiplies by its own result, the node of the product by 3.
"""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x * 3
z = y.exp()

print(type(y.grad_fn).__name__)
print(type(z.grad_fn).__name__)
print(z)

z.backward()
print(x.grad)
print(f"{x.grad.item():.1f}")
