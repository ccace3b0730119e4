"""Linear algebra, as `torch.linalg` has it.

Matrices are the last two dimensions, those before them batches. Results for matrices that have
none, such as the inverse of a singular one, raise `LinAlgError`.
"""

from __future__ import annotations

from .errors import LinAlgError as LinAlgError
from .missing import missing
from .ops.contraction import multi_dot as multi_dot
from .ops.decompositions import linalg_cholesky as cholesky
from .ops.decompositions import linalg_cholesky_ex as cholesky_ex
from .ops.decompositions import linalg_eig as eig
from .ops.decompositions import linalg_eigh as eigh
from .ops.decompositions import linalg_eigvals as eigvals
from .ops.decompositions import linalg_eigvalsh as eigvalsh
from .ops.decompositions import linalg_lu as lu
from .ops.decompositions import linalg_lu_factor as lu_factor
from .ops.decompositions import linalg_lu_factor_ex as lu_factor_ex
from .ops.decompositions import linalg_qr as qr
from .ops.decompositions import linalg_svd as svd
from .ops.decompositions import linalg_svdvals as svdvals
from .ops.determinants import linalg_det as det
from .ops.determinants import linalg_slogdet as slogdet
from .ops.matrix_functions import cross_of as cross
from .ops.matrix_functions import linalg_cond as cond
from .ops.matrix_functions import linalg_diagonal as diagonal
from .ops.matrix_functions import linalg_matrix_exp as matrix_exp
from .ops.matrix_functions import linalg_matrix_rank as matrix_rank
from .ops.matrix_functions import linalg_tensorinv as tensorinv
from .ops.matrix_functions import linalg_tensorsolve as tensorsolve
from .ops.matrix_functions import linalg_vander as vander
from .ops.matrix_functions import linalg_vecdot as vecdot
from .ops.matrix_functions import matrix_power as matrix_power
from .ops.norms import linalg_norm as norm
from .ops.norms import matrix_norm as matrix_norm
from .ops.norms import vector_norm as vector_norm
from .ops.products import matmul as matmul
from .ops.reflectors import orgqr as householder_product
from .ops.solvers import linalg_inv as inv
from .ops.solvers import linalg_inv_ex as inv_ex
from .ops.solvers import linalg_lstsq as lstsq
from .ops.solvers import linalg_lu_solve as lu_solve
from .ops.solvers import linalg_pinv as pinv
from .ops.solvers import linalg_solve as solve
from .ops.solvers import linalg_solve_ex as solve_ex
from .ops.solvers import linalg_solve_triangular as solve_triangular

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

__getattr__ = missing(__name__)
