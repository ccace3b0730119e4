"""`torch.nn.functional`: the functions of neural networks, which the table of operators has."""

from ..missing import missing
from ..ops.activation import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    logsigmoid,
    mish,
    prelu,
    relu6,
    relu_,
    selu,
    selu_,
    silu,
    softplus,
    softshrink,
    softsign,
    tanhshrink,
    threshold,
    threshold_,
)
from ..ops.activation import relu_functional as relu
from ..ops.adaptive import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
)
from ..ops.attention import scaled_dot_product_attention
from ..ops.classification import (
    cross_entropy,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
)
from ..ops.convolving import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from ..ops.ctc import ctc_loss
from ..ops.distance import (
    cosine_embedding_loss,
    cosine_similarity,
    hinge_embedding_loss,
    margin_ranking_loss,
    normalize,
    pairwise_distance,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from ..ops.dropouts import alpha_dropout_functional as alpha_dropout
from ..ops.dropouts import dropout1d, dropout2d, dropout3d
from ..ops.dropouts import dropout_functional as dropout
from ..ops.dropouts import feature_alpha_dropout_functional as feature_alpha_dropout
from ..ops.embeddings import embedding, embedding_bag, one_hot
from ..ops.gating import glu
from ..ops.gridding import affine_grid, grid_sample
from ..ops.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
)
from ..ops.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    rms_norm,
)
from ..ops.padding import pad
from ..ops.pairs import pdist
from ..ops.pixels import channel_shuffle, fold, pixel_shuffle, pixel_unshuffle, unfold
from ..ops.pooling import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from ..ops.products import bilinear, linear
from ..ops.resampling import interpolate, upsample, upsample_bilinear, upsample_nearest
from ..ops.rrelu import rrelu_
from ..ops.rrelu import rrelu_functional as rrelu
from ..ops.softmaxes import gumbel_softmax
from ..ops.softmaxes import nn_log_softmax as log_softmax
from ..ops.softmaxes import nn_softmax as softmax
from ..ops.softmaxes import nn_softmin as softmin
from ..ops.transcendental import sigmoid, tanh
from ..ops.unpooling import (
    fractional_max_pool2d,
    fractional_max_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from .multihead import multi_head_attention_forward

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

__getattr__ = missing(__name__)
