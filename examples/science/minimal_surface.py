"""Stretch a soap film over a wire: Newton's method with a sparse Hessian.

The film's area is a sum over the cells of a grid, so that in the Hessian a point meets only its
eight neighbours: a few backward passes find all entries, whatever the size of the grid. The wire is
cut out of Scherk's surface, z = log(cos y / cos x), which is the exact answer.
"""

import scipy.sparse as sparse
from scipy.sparse.linalg import spsolve

import gradfn as torch
from gradfn.scipy import color_hessian, ravel, sparse_hessian

torch.set_default_dtype(torch.float64)

points = 41
side = torch.linspace(-1, 1, points)
width = side[1] - side[0]
exact = (side[None, :].cos() / side[:, None].cos()).log()


def film(inner):
    """The heights on the whole grid."""
    rows = torch.cat([exact[1:-1, :1], inner, exact[1:-1, -1:]], dim=1)
    return torch.cat([exact[:1], rows, exact[-1:]])


def area(inner):
    z = film(inner)
    rises = z[1:] - z[:-1], z[:, 1:] - z[:, :-1]
    x_slope = (rises[0][:, 1:] + rises[0][:, :-1]) / (2 * width)
    y_slope = (rises[1][1:] + rises[1][:-1]) / (2 * width)
    return (1 + x_slope**2 + y_slope**2).sqrt().sum() * width**2


line = sparse.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(points - 2, points - 2))
coloring = color_hessian(sparse.kron(line, line))
print(f"{(points - 2) ** 2} unknowns, {coloring.passes} backward passes for each Hessian")

inner = torch.zeros(points - 2, points - 2)
for step in range(8):
    inner.requires_grad_()
    (gradient,) = torch.autograd.grad(area(inner), inner)
    print(f"step {step}: area {area(inner).item():.6f}, gradient {gradient.norm().item():.0e}")
    vector, unravel = ravel(gradient)
    hessian = sparse_hessian(area, inner, coloring)
    inner = inner.detach() - unravel(spsolve(hessian.tocsc(), vector))

print(f"largest error {(film(inner) - exact).abs().max().item():.1e}")
