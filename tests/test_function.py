"""Custom functions: what `forward` may return, what `backward` must, and what ctx keeps."""

import pytest

import gradfn as torch
from gradfn.autograd.function import Function, once_differentiable


def leaf(value):
    return torch.tensor(value, requires_grad=True)


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


def test_the_node_is_named_after_the_function():
    y = Square.apply(leaf(3.0))
    assert type(y.grad_fn).__name__ == y.grad_fn.name() == "SquareBackward"
    assert repr(y.grad_fn).startswith("<torch.autograd.function.SquareBackward object at 0x")
    assert y.grad_fn.where.text == "Square.apply(leaf(3.0))"


def test_second_derivatives_go_through_backward():
    x = leaf(3.0)
    (g,) = torch.autograd.grad(Square.apply(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert (g.item(), h.item()) == (6.0, 2.0)


def test_setup_context_sees_defaults():
    class Scale(Function):
        @staticmethod
        def forward(x, factor=3.0):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            _, ctx.factor = inputs

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None

    x = leaf(2.0)
    Scale.apply(x).backward()
    assert x.grad.item() == 3.0


def test_several_outputs_with_marks():
    seen = []

    class Parts(Function):
        @staticmethod
        def forward(ctx, x):
            positive = (x > 0).float()
            ctx.mark_non_differentiable(positive)
            return x * 2, positive, "text", x * 3

        @staticmethod
        def backward(ctx, *grads):
            seen.append(grads)
            return 2 * grads[0] + 3 * grads[3]

    x = leaf([1.0, -1.0])
    double, positive, text, _ = Parts.apply(x)
    assert (double.requires_grad, positive.requires_grad, text) == (True, False, "text")
    double.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [2.0, 2.0]
    _, _, third, fourth = seen[0]
    assert fourth.tolist() == [0.0, 0.0] and third is None


def test_gradients_may_stay_undefined():
    class Keep(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            assert second is None
            return first

    x = leaf(1.0)
    Keep.apply(x)[0].backward()
    assert x.grad.item() == 1.0


def test_a_dirty_input_takes_the_node():
    class AddOne(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, grad):
            return grad * 10

    base = leaf([1.0, 2.0])
    x = base * 1
    y = AddOne.apply(x)
    assert y is x and type(x.grad_fn).__name__ == "AddOneBackward"
    y.sum().backward()
    assert base.grad.tolist() == [10.0, 10.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        AddOne.apply(leaf(1.0))


def test_an_input_returned_as_it_is_becomes_a_view():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 5

    x = leaf(1.0)
    y = Same.apply(x)
    assert y is not x
    y.backward()
    assert x.grad.item() == 5.0
    with pytest.raises(RuntimeError, match="view was created inside a custom Function"):
        Same.apply(x * 1).mul_(2)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda g: (g, g), "incorrect number of gradients .expected 1, got 2"),
        (lambda g: g.sum().reshape(1).expand(7), "returned an invalid gradient at index 0"),
        (lambda g: "no", "expected Variable or None"),
    ],
)
def test_what_backward_returns_is_checked(returned, message):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return returned(grad)

    with pytest.raises(RuntimeError, match=message):
        Wrong.apply(leaf([1.0, 2.0])).sum().backward()


def test_a_number_has_no_gradient():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    with pytest.raises(RuntimeError, match="different from None at position 2"):
        Scale.apply(leaf(1.0), 2.0).backward()


def test_once_differentiable_refuses_a_second_time():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0].cos()

    x = leaf(1.0)
    (g,) = torch.autograd.grad(Once.apply(x) * x, x, create_graph=True)
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        g.backward()


def test_saved_tensors_are_freed_and_checked():
    x = leaf([1.0, 2.0])
    y = Square.apply(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.grad_fn.saved_tensors  # noqa: B018
    a = x * 1
    z = Square.apply(a)
    a.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_functions_are_not_instantiated():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        legacy = Square()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        legacy(leaf(1.0))


def test_missing_methods_are_named():
    class Empty(Function):
        pass

    with pytest.raises(NotImplementedError, match="must implement the forward"):
        Empty.apply(leaf(1.0))


def test_none_among_saved_tensors_has_a_place():
    class Identity(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad

    y = Identity.apply(torch.ones(2, requires_grad=True))
    first, second = y.grad_fn._raw_saved_tensors
    with pytest.raises(RuntimeError, match="value None is forbidden"):
        second.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        first.register_hooks(lambda t: t)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="already been freed"):
        _ = y.grad_fn._raw_saved_tensors
