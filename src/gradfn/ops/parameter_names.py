"""Names of parameters that are read alike in every operator."""

# Plain arguments that are numbers: NumPy's would change the dtype of results, and 0-d tensors are
# taken for them.
FACTORS = frozenset(
    {
        "alpha",
        "beta",
        "correction",
        "decimals",
        "delta",
        "eps",
        "exponent",
        "fill",
        "input_scale",
        "lambd",
        "margin",
        "max",
        "max_val",
        "maxnorm",
        "mean",
        "min",
        "min_val",
        "momentum",
        "nan",
        "negative_slope",
        "neginf",
        "p",
        "posinf",
        "rcond",
        "scale",
        "shifts",
        "sigma",
        "start",
        "std",
        "threshold",
        "to",
        "value",
        "weight",
    }
)

# PyTorch takes NumPy's names for these parameters too.
NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}
