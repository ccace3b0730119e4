"""Special functions, as `torch.special` has them."""

from __future__ import annotations

from typing import Any

from .missing import missing
from .ops import special as _rows
from .ops.rounding import round as round
from .ops.softmaxes import log_softmax as log_softmax
from .ops.softmaxes import logsumexp as logsumexp
from .ops.softmaxes import softmax as softmax
from .ops.special import digamma as digamma
from .ops.special import digamma as psi
from .ops.special import i0 as i0
from .ops.special import igamma as gammainc
from .ops.special import igammac as gammaincc
from .ops.special import lgamma as gammaln
from .ops.special import logit as logit
from .ops.special import mvlgamma as multigammaln
from .ops.special import polygamma as polygamma
from .ops.special import sinc as sinc
from .ops.special import special_entr as entr
from .ops.special import special_erfcx as erfcx
from .ops.special import special_i0e as i0e
from .ops.special import special_i1 as i1
from .ops.special import special_i1e as i1e
from .ops.special import special_log_ndtr as log_ndtr
from .ops.special import special_ndtr as ndtr
from .ops.special import special_ndtri as ndtri
from .ops.special import special_xlog1py as xlog1py
from .ops.special import special_zeta as zeta
from .ops.transcendental import erf as erf
from .ops.transcendental import erfc as erfc
from .ops.transcendental import erfinv as erfinv
from .ops.transcendental import exp2 as exp2
from .ops.transcendental import expm1 as expm1
from .ops.transcendental import log1p as log1p
from .ops.transcendental import sigmoid as expit
from .ops.transcendental import xlogy as xlogy

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
    "zeta",
]

_missing = missing(__name__)


def __getattr__(name: str) -> Any:
    found = _rows.WITHOUT_GRADIENT.get(name)
    return _missing(name) if found is None else found


def __dir__() -> list[str]:
    return [*__all__, *_rows.WITHOUT_GRADIENT]
