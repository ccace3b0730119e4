"""Names of parameters that are read alike in every operator."""

# Plain arguments that are numbers: NumPy's would change the dtype of results.
FACTORS = frozenset(
    {
        "alpha",
        "beta",
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
