"""0-d tensors where PyTorch takes a number."""

from types import ModuleType
from typing import Any

import pytest

import gradfn

CALLS = [
    "torch.add(a,a,alpha=s)",
    "torch.add(a,a,alpha=torch.tensor([2.]))",
    "torch.add(a,a,alpha=torch.tensor(2.,requires_grad=True))",
    "torch.addcmul(a,a,a,value=s)",
    "F.leaky_relu(a,s)",
    "F.elu(a,alpha=s)",
    "torch.clamp(a,min=s)",
    "F.hardtanh(a,-s,s)",
    "torch.pow(a,s)",
    "torch.full((2,),s)",
    "F.threshold(a,s,s)",
    "torch.lerp(a,a,s)",
    "torch.arange(s)",
    "torch.linspace(0,s,3)",
    "torch.logspace(0,s,3)",
    "a.clone().fill_(s)",
    "F.pad(a,(1,1),value=s)",
    "torch.renorm(torch.ones(2,2),2,0,s)",
    "F.softplus(a,s)",
    "torch.norm(a,s)",
    "torch.dist(a,a,s)",
    "torch.histc(a,min=s,max=3).sum()",
    "torch.linalg.vector_norm(a,s)",
    "F.dropout(a,s)",
    "torch.sub(a,a,alpha=torch.tensor(2))",
    "torch.cumsum(a,i*0)",
    "a.sum(i*0)",
    "torch.ones(i+1)",
    "torch.zeros(i+1,i+1)",
    "torch.roll(a,i)",
    "a.repeat(i+1)",
    "a.clone().uniform_(0,s).shape",
    "a.masked_fill(a>0,s)",
    "F.celu(a,s)",
    "a.clone().mul_(s)",
    "torch.where(a>0,s,0.)",
    "F.huber_loss(a,a,delta=s)",
    "torch.quantile(a,s/4)",
    "torch.eye(i+1)",
    "torch.chunk(a,i+1)",
    "a.narrow(0,i*0,1)",
    "a.view(i+1)",
    "a.reshape(i+1,i)",
    "a.expand(i+1,2)",
    "F.layer_norm(a,(2,),eps=s)",
    "torch.std(torch.arange(3.),correction=i)",
    "torch.topk(a,i)",
    "torch.randint(i+5,(2,)).shape",
    "torch.addmm(a.view(1,2),a.view(1,2),torch.ones(2,2),beta=s,alpha=s)",
    "torch.nan_to_num(a,nan=s)",
    "torch.logit(a*0.4,s/8)",
    "torch.baddbmm(a.view(1,1,2),a.view(1,1,2),torch.ones(1,2,2),alpha=s)",
    "torch.addr(torch.ones(2,2),a,a,alpha=s)",
    "torch.addcdiv(a,a,a,value=s)",
    "torch.tril(torch.ones(2,2),i)",
    "torch.diag(a,i)",
    "torch.unsqueeze(a,i*0)",
    "torch.index_select(a,0,torch.tensor([0]))",
    "a[i]",
    "a[:i]",
    "torch.flip(a,(i*0,))",
    "torch.split(a,i)",
    "torch.arange(0,s,i)",
    "torch.arange(3)[i:]",
    "torch.full((i+1,),3.)",
    "torch.normal(0.,s,(2,)).shape",
    "torch.bernoulli(a,s/4).shape",
    "torch.multinomial(a,i).shape",
    "F.one_hot(torch.tensor([0,1]),i+1)",
    "torch.linalg.norm(a,s)",
    "F.normalize(a,s,0)",
    "torch.round(a,decimals=i)",
    "F.softmax(a,i*0)",
    "torch.clamp(a,s,s)",
    "a.clamp_(max=s)",
    "F.smooth_l1_loss(a,a*0,beta=s)",
    "torch.isclose(a,a,rtol=s)",
    "torch.nn.LeakyReLU(s)(a)",
    "torch.allclose(a,a,atol=s)",
    "torch.randn(i+1).shape",
    "torch.randperm(i+2).shape",
    "torch.empty(i+1,2).shape",
    "torch.Tensor(i+1).shape",
]


def called(torch: ModuleType, call: str) -> Any:
    torch.manual_seed(0)
    names = {
        "torch": torch,
        "F": torch.nn.functional,
        "a": torch.ones(2),
        "s": torch.tensor(2.0),
        "i": torch.tensor(1),
    }
    try:
        return str(eval(call, names))
    except (RuntimeError, TypeError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize("call", CALLS)
def test_a_tensor_stands_for_a_number_as_in_pytorch(oracle: ModuleType, call: str) -> None:
    assert called(gradfn, call) == called(oracle, call)


def test_a_number_comes_from_one_element_without_gradient() -> None:
    x = gradfn.ones(2)
    assert gradfn.addcmul(x, x, x, value=gradfn.tensor(2.0)).tolist() == [3.0, 3.0]
    assert gradfn.add(x, x, alpha=gradfn.tensor(2)).tolist() == [3.0, 3.0]
    for wrong in (gradfn.ones(1), gradfn.tensor(1.0, requires_grad=True)):
        for call in (gradfn.addcmul, gradfn.addcdiv):
            with pytest.raises(TypeError, match="argument 'value' must be Number, not Tensor"):
                call(x, x, x, value=wrong)
    assert gradfn.finfo(float).bits == 64
    assert gradfn.iinfo(int).bits == 64


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_half_precision_is_rounded_by_way_of_single(oracle: ModuleType, half: str) -> None:
    if half == "bfloat16":
        pytest.importorskip("ml_dtypes")

    def found(t: Any) -> list[float]:
        dtype = getattr(t, half)
        halfway = [1 + 2**-11 + 2**-30, 1 + 2**-8 + 2**-30, 2**15 + 2**4 + 2**-20]
        wide = t.tensor(halfway, dtype=t.float64)
        number = t.tensor([2**15 + 2**7 + 1, 2**15 + 2**4 + 1, 2**15 + 1])
        ones = t.ones(3, dtype=dtype)
        results = [
            wide.to(dtype), number.to(dtype), ones.clone().copy_(wide), wide.sum(dtype=dtype),
            ones * halfway[1], ones + halfway[0] * 257, t.full((2,), halfway[0], dtype=dtype),
            t.tensor(halfway, dtype=dtype), ones * number,
        ]  # fmt: skip
        return [value for r in results for value in r.double().reshape(-1).tolist()]

    assert found(gradfn) == found(oracle)
