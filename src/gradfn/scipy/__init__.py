"""Derivatives for scientific computing.

SciPy's optimisers, root finders, integrators and linear solvers on functions of tensors, which get
the derivatives that they want and pass gradients on; and what else is computed from derivatives:
products with Hessians, sparse Jacobians, the operators of vector analysis.

Functions are ordinary ones of tensors, or of dicts, lists and tuples of tensors. SciPy computes in
float64, on the vector that `ravel` makes of them, while the functions keep their dtypes. SciPy
itself is imported when it is first needed.
"""

from .coloring import Coloring as Coloring
from .coloring import color_hessian as color_hessian
from .coloring import color_jacobian as color_jacobian
from .implicit import fixed_point as fixed_point
from .implicit import implicit as implicit
from .integration import odeint as odeint
from .integration import odeint_event as odeint_event
from .minimization import minimize as minimize
from .operators import hessian_operator as hessian_operator
from .operators import jacobian_operator as jacobian_operator
from .packing import ravel as ravel
from .products import curl as curl
from .products import directional_derivatives as directional_derivatives
from .products import divergence as divergence
from .products import gnvp as gnvp
from .products import hvp as hvp
from .products import laplacian as laplacian
from .products import vhp as vhp
from .quadrature import quad as quad
from .roots import least_squares as least_squares
from .roots import root as root
from .roots import root_scalar as root_scalar
from .sparsity import hessian_sparsity as hessian_sparsity
from .sparsity import jacobian_sparsity as jacobian_sparsity
from .sparsity import sparse_hessian as sparse_hessian
from .sparsity import sparse_jacobian as sparse_jacobian
