"""The graph is there to be walked: next_functions leads from each node to those it feeds.

"Next" is meant in the order of the backward pass: from the result towards the leaves. A leaf's
node is an AccumulateGrad, which adds what arrives to the leaf's grad. An input that needs no
gradient has no node: None stands in its place.
"""

import torch


def show(node, depth=0):
    """One line for each node, indented by its distance from the root."""
    if node is None:
        print("  " * depth + "None")
        return
    leaf = f" of {node.variable}" if node.name() == "torch::autograd::AccumulateGrad" else ""
    print("  " * depth + type(node).__name__ + leaf)
    for child, _ in node.next_functions:
        show(child, depth + 1)


w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(-1.5, requires_grad=True)
x = torch.tensor([3.0, -0.5])

loss = ((w * x).sum() + b).tanh()
show(loss.grad_fn)

# Each edge is a node and the number of the node's result that it stands for.
print(loss.grad_fn.next_functions)

# The AccumulateGrad at the end holds the leaf itself.
add = loss.grad_fn.next_functions[0][0]
accumulate = add.next_functions[1][0]
print(accumulate.variable is b, accumulate.next_functions)

loss.backward()
print(w.grad)
print(b.grad)
