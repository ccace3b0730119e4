"""The engine: order, accumulation, freeing, modes, hooks, threads, depth."""

import asyncio
import gc
import threading
import tracemalloc
import warnings
import weakref

import numpy as np
import pytest

import gradfn as torch
from gradfn.autograd.engine import topological_order


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def test_a_chain_of_a_million_operations():
    x = leaf(1.0)
    y = x
    for _ in range(1_000_000):
        y = y * 1.0
    y.backward()
    assert x.grad.item() == 1.0
    del y
    assert gc.isenabled()


def test_a_node_of_a_chain_takes_less_than_a_kilobyte():
    x = leaf(1.0)
    y = x * 1.0
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(1000):
        y = y * 1.0
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (after - before) / 1000 < 1024


def plain_graph(x):
    return (x * x).exp().sum()


def in_place_graph(x):
    y = x * 1
    y.mul_(x)
    y.add_(y * y)
    return y.sum()


def view_graph(x):
    base = x * 1
    row = base[0]
    row.mul_(2)
    return (base * row).sum()


def double_graph(x):
    return torch.autograd.grad((x * x * x).sum(), x, create_graph=True)[0].sum()


def custom_graph(x):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]

    return Exp.apply(x).sum()


@pytest.mark.parametrize(
    "graph", [plain_graph, in_place_graph, view_graph, double_graph, custom_graph]
)
def test_graphs_have_no_reference_cycles(graph):
    x = leaf([1.0, 2.0, 3.0])
    loss = graph(x)
    gc.collect()
    gc.disable()
    try:
        nodes = [weakref.ref(node) for node in topological_order([loss.grad_fn])]
        alive = weakref.ref(x)
        del loss
        assert [node() for node in nodes if node() is not None] == []
        del x
        assert alive() is None
    finally:
        gc.enable()


def test_the_order_is_topological():
    x = leaf(2.0)
    a = x * x
    b = a * x
    c = b + a
    order = topological_order([c.grad_fn])
    names = [node.name() for node in order]
    assert names == [
        "AddBackward0",
        "MulBackward0",
        "MulBackward0",
        "torch::autograd::AccumulateGrad",
    ]
    position = {node: i for i, node in enumerate(order)}
    for node in order:
        for child, _ in node.next_functions:
            if child is not None:
                assert position[child] > position[node]


def test_a_leaf_runs_right_after_its_last_consumer():
    log = []
    x, w = leaf(2.0), leaf(3.0)
    for name, tensor in (("x", x), ("w", w)):
        tensor.register_post_accumulate_grad_hook(lambda t, name=name: log.append(name))
    a = x * 2.0
    b = a * w
    for name, tensor in (("a", a), ("b", b)):
        tensor.grad_fn.register_hook(lambda gi, go, name=name: log.append(name))
    (b * w * x).backward()
    assert log == ["b", "w", "a", "x"]


def test_gradients_accumulate_into_the_same_tensor():
    x = leaf([1.0, 2.0])
    (x * 3).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first
    assert first.tolist() == [6.0, 6.0]
    assert first._version == 1


def test_leaves_do_not_share_their_gradient():
    a, b = leaf([1.0]), leaf([2.0])
    (a + b).sum().backward()
    a.grad.mul_(5)
    assert b.grad.tolist() == [1.0]


def test_the_users_gradient_is_not_taken():
    a = leaf([1.0])
    gradient = torch.tensor([2.0])
    (a * 1).backward(gradient)
    a.grad.mul_(5)
    assert gradient.tolist() == [2.0]


def test_a_result_saved_by_a_node_is_not_taken_as_gradient():
    x, y = leaf([3.0]), leaf([4.0])
    (x * y).backward(torch.ones(1), retain_graph=True)
    x.grad.zero_()
    (x * y).backward(torch.ones(1))
    assert y.tolist() == [4.0]
    assert x.grad.tolist() == [4.0]


def test_freed_graph_names_both_lines():
    x = leaf(2.0)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time") as error:
        y.backward()
    text = str(error.value)
    assert "y = x * x" not in text and "x * x" in text
    assert "y.backward()" in text
    assert x.grad.item() == 4.0


def test_nodes_without_saved_values_can_run_again():
    x = leaf(2.0)
    y = x + x
    y.backward()
    y.backward()
    assert x.grad.item() == 4.0


def test_retained_graph_runs_again():
    x = leaf(2.0)
    y = x * x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 24.0


@pytest.mark.parametrize(
    ("cut", "reason"),
    [
        (lambda x: x.detach(), "detach"),
        (lambda x: torch.no_grad()(lambda: x * 2)(), "no_grad"),
        (lambda x: x > 0, "torch.bool"),
        (lambda x: torch.ones(()), "leaf"),
    ],
)
def test_a_missing_history_is_explained(cut, reason):
    x = leaf(2.0)
    y = cut(x)
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad") as error:
        y.backward()
    assert reason in str(error.value)


def test_stale_values_name_both_lines():
    x = leaf([1.0, 2.0])
    y = x * 1
    z = y * y
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        z.sum().backward()
    text = str(error.value)
    assert "y * y" in text and "y.mul_(2)" in text
    assert "version 1; expected version 0" in text


def test_values_not_needed_may_change():
    x, c = leaf([1.0]), torch.tensor([2.0])
    y = x * c
    x.data.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [2.0]


def test_grad_wants_used_inputs():
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(x * 2, [x, y])
    assert torch.autograd.grad(x * 2, [x, y], allow_unused=True)[1] is None
    zeros = torch.autograd.grad(x * 2, [x, y], materialize_grads=True)[1]
    assert zeros.item() == 0.0
    with pytest.raises(ValueError, match="Expected allow_unused to be True"):
        torch.autograd.grad(x * 2, [x], allow_unused=False, materialize_grads=True)


def test_grad_runs_only_what_leads_to_the_inputs():
    ran = []
    x, y = leaf(1.0), leaf(2.0)
    a, b = x * 2, y * 2
    b.grad_fn.register_hook(lambda gi, go: ran.append("b"))
    (g,) = torch.autograd.grad(a * b, a)
    assert g.item() == 4.0 and ran == []
    assert x.grad is None and y.grad is None


def test_backward_with_inputs_fills_only_these():
    x, y = leaf(1.0), leaf(2.0)
    a = x * 2
    (a * y).backward(inputs=[a, y])
    assert a.grad.item() == 2.0 and y.grad.item() == 2.0 and x.grad is None
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * y).backward(inputs=[])


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_derivatives_of_any_order(order):
    x = leaf(2.0)
    value, expected, power = x * x * x * x * x, 1.0, 5
    for k in range(order):
        (value,) = torch.autograd.grad(value, x, create_graph=True)
        expected *= power - k
    assert value.item() == expected * 2.0 ** (5 - order)


def test_create_graph_accumulates_a_tensor_with_history():
    x = leaf(3.0)
    with pytest.warns(UserWarning, match="will create a reference cycle"):
        (x * x).backward(create_graph=True)
    assert x.grad.requires_grad
    (g,) = torch.autograd.grad(x.grad, x)
    assert g.item() == 2.0


def test_modes_are_per_asyncio_task():
    async def quiet(started, other_done):
        with torch.no_grad():
            started.set()
            await other_done.wait()
            return torch.is_grad_enabled()

    async def recording(started, other_done):
        await started.wait()
        enabled = torch.is_grad_enabled()
        other_done.set()
        return enabled

    async def both():
        started, done = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(quiet(started, done), recording(started, done))

    assert asyncio.run(both()) == [False, True]


def test_modes_are_per_thread():
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_eight_threads_share_leaves():
    x = leaf(np.ones(100))
    errors = []

    def work():
        try:
            for _ in range(50):
                (x * x).sum().backward()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert x.grad.tolist() == [800.0] * 100


def test_threads_share_a_subgraph():
    x = leaf(np.ones(10))
    shared = (x * x).exp()

    def work():
        (shared * 2).sum().backward(retain_graph=True)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(x.grad.numpy(), 8 * 2 * 2 * np.exp(np.ones(10)), rtol=1e-6)


def test_a_reentrant_pass_a_thousand_deep():
    class Again(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth > 0:
                with torch.enable_grad():
                    inner = leaf(1.0)
                    Again.apply(inner, ctx.depth - 1).backward()
            return grad, None

    x = leaf(1.0)
    Again.apply(x, 1000).backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failing_pass_leaves_gradients_as_they_were(failure):
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (x * w).sum().backward()
    before = x.grad.tolist(), w.grad.tolist()
    fail = [True]

    def hook(grad):
        if fail[0]:
            raise failure("stop")

    x.register_hook(hook)
    a = x * 1
    loss = (a * w).sum()
    with pytest.raises(failure):
        loss.backward(retain_graph=True)
    assert (x.grad.tolist(), w.grad.tolist()) == before
    fail[0] = False
    loss.backward()
    assert w.grad.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [6.0, 8.0]


def test_hooks_replace_and_remove_themselves():
    x = leaf(2.0)
    log = []
    y = x * 3
    handle = y.register_hook(lambda g: (log.append("first"), handle.remove(), g * 2)[2])
    y.register_hook(lambda g: log.append(g.item()))
    y.backward(retain_graph=True)
    assert log == ["first", 2.0] and x.grad.item() == 6.0
    y.backward()
    assert log == ["first", 2.0, 1.0] and x.grad.item() == 9.0


def test_hooks_must_fit():
    x = leaf([1.0, 2.0])
    y = x * 1
    y.register_hook(lambda g: g.sum())
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        y.sum().backward()
    z = x * 1
    z.register_hook(lambda g: "no")
    with pytest.raises(TypeError, match="expected Variable, but hook"):
        z.sum().backward()


def test_node_hooks_see_inputs_and_outputs():
    x = leaf(2.0)
    y = x * 3
    seen = []
    y.grad_fn.register_prehook(lambda go: seen.append(("pre", go[0].item())))
    y.grad_fn.register_hook(lambda gi, go: seen.append((gi[0].item(), gi[1], go[0].item())))
    y.backward()
    assert seen == [("pre", 1.0), (3.0, None, 1.0)]


def test_retain_grad_follows_in_place_operations():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    y.mul_(3)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [6.0, 6.0]


def test_where_is_the_users_expression():
    x = leaf(2.0)
    y = x * 3 + x
    assert y.grad_fn.where.text == "x * 3 + x"
    assert y.grad_fn.next_functions[0][0].where.text == "x * 3"
    assert y.grad_fn.where.function == "test_where_is_the_users_expression"
    assert y.grad_fn.where.filename == __file__


def test_metadata_is_the_users():
    y = leaf(2.0) * 3
    y.grad_fn.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}


def test_a_failed_pass_leaves_alone_what_others_have_changed():
    x, y = leaf([1.0]), leaf([1.0])
    x.grad = torch.tensor([5.0])

    def interfere(grad):
        with torch.enable_grad():
            (x * 1).sum().backward()
        raise ValueError("stop")

    y.register_hook(interfere)
    a = y * 1
    loss = (a * 1).sum() + (x * 2).sum()
    with pytest.raises(ValueError, match="stop"):
        loss.backward()
    assert x.grad.tolist() in ([6.0], [8.0])


def test_the_users_own_change_survives_a_failed_pass():
    x, y = leaf([1.0]), leaf([1.0])
    a = y * 1
    b = a * x
    x.grad = torch.tensor([5.0])

    def drop(tensor):
        tensor.grad = None

    x.register_post_accumulate_grad_hook(drop)
    y.register_hook(lambda grad: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        b.sum().backward()
    assert x.grad is None


def test_multi_grad_hooks_do_not_keep_the_graph():
    y = leaf([1.0]) * 2
    torch.autograd.graph.register_multi_grad_hook([y], lambda grads: None)
    node = weakref.ref(y.grad_fn)
    gc.collect()
    gc.disable()
    try:
        del y
        assert node() is None
    finally:
        gc.enable()


def test_views_retain_their_gradient_when_the_base_is_written():
    y = leaf([1.0, 2.0, 3.0]) * 2
    v = y[:2]
    v.retain_grad()
    y.mul_(3)
    v.mul_(2)
    (y.sum() + v.sum()).backward()
    assert v.grad.tolist() == [1.0, 1.0]


def test_nothing_is_recorded_in_inference_mode():
    x = leaf(1.0)
    with torch.inference_mode(), torch.enable_grad():
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_integers_take_no_history():
    target = torch.zeros(1, dtype=torch.int32)
    target.copy_(leaf([2.5]))
    assert target.tolist() == [2] and not target.requires_grad


def test_grad_wants_inputs():
    with pytest.raises(RuntimeError, match="grad requires non-empty inputs"):
        torch.autograd.grad(leaf(1.0) * 2, [])


def test_integers_meet_large_numbers_in_full():
    small = torch.tensor([1, 2], dtype=torch.int8)
    np.testing.assert_allclose((small / 255).numpy(), [1 / 255, 2 / 255], rtol=1e-6)
    assert (torch.tensor([1], dtype=torch.int32) / 2**31).item() == pytest.approx(2.0**-31)


def test_a_negative_base_has_a_complex_logarithm():
    base, exponent = torch.tensor([-2.0]), leaf(0.5 + 1j)
    (g,) = torch.autograd.grad((base**exponent).real.sum(), exponent)
    value = (-2 + 0j) ** (0.5 + 1j)
    assert g.item() == pytest.approx((value * np.log(-2 + 0j)).conjugate(), rel=1e-5)


def test_grad_and_backward_take_generators():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    gradients = torch.autograd.grad((x * y).sum(), (t for t in (x, y)))
    assert [g.tolist() for g in gradients] == [[3.0, 4.0], [1.0, 2.0]]
    torch.autograd.backward((t.sum() for t in (x * 2, y * 3)), inputs=(t for t in (x, y)))
    assert x.grad.tolist() == [2.0, 2.0] and y.grad.tolist() == [3.0, 3.0]


def test_a_gradient_that_only_the_pass_holds_is_kept_uncopied():
    seen = []
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y.grad_fn.next_functions[0][0].register_hook(lambda inputs, outputs: seen.append(outputs[0]))
    y.sum().backward()
    assert x.grad.data_ptr() == seen[0].data_ptr()

    held = torch.ones(3)
    x.grad = None
    x.clone().backward(held)
    assert x.grad.data_ptr() != held.data_ptr()


def test_a_gradient_for_two_leaves_is_kept_by_one():
    class Add(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    Add.apply(x, y).backward(torch.ones(3))
    assert x.grad.data_ptr() != y.grad.data_ptr()


def test_nodes_renumbered_by_hand_run_in_that_order():
    x = torch.ones(2, requires_grad=True)
    a, b = x * 2, x * 3
    c = a * b
    for node, number in ((a.grad_fn, 100), (b.grad_fn, 99), (c.grad_fn, 98)):
        node._set_sequence_nr(number)
        assert node._sequence_nr() == number
    order = []
    for name, tensor in (("a", a), ("b", b), ("c", c)):
        tensor.register_hook(lambda grad, name=name: order.append(name))
    c.sum().backward()
    assert order == ["c", "a", "b"]
    assert x.grad.tolist() == [12.0, 12.0]


def test_the_second_derivative_of_a_write_to_a_view_knows_its_result():
    def written(x):
        y = (x * 1).view(2, 2)
        y[0].sigmoid_()
        return y * y

    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(written, x)
    (grad,) = torch.autograd.grad(written(x).sum(), x, create_graph=True)
    torch.autograd.grad(grad.sum(), x)  # within one pass, nothing is needed twice


def test_zeros_for_an_edge_cannot_be_made():
    x, y = torch.ones(2, requires_grad=True) * 1, torch.ones(2, requires_grad=True) * 1
    edge = torch.autograd.graph.get_gradient_edge(y)
    with pytest.raises(RuntimeError, match="when the given input is a GradientEdge"):
        torch.autograd.grad(x.sum(), (x, edge), materialize_grads=True)


def test_questions_about_the_running_pass():
    core = torch._C
    answers = []
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    leaf = y.grad_fn.next_functions[0][0]

    def ask(grad):
        for node in (y.grad_fn, leaf):
            try:
                answers.append(core._will_engine_execute_node(node))
            except RuntimeError as error:
                answers.append(str(error))
        with pytest.raises(RuntimeError, match="multithreading disabled"):
            core._current_graph_task_execution_order()

    y.register_hook(ask)
    y.sum().backward(retain_graph=True)
    assert answers == [True, True]
    torch.autograd.grad(y.sum(), x)
    assert answers[2] is True
    assert "currently running autograd.grad()" in answers[3]
    with pytest.raises(RuntimeError, match="expects an grad_fn, but got Tensor"):
        core._will_engine_execute_node(y)


def test_what_cannot_be_deleted_says_so():
    x = torch.ones(2, requires_grad=True)
    for name in ("_grad_fn", "_backward_hooks", "requires_grad", "data"):
        with pytest.raises(RuntimeError, match=r"[Dd]elet"):
            delattr(x, name)


def test_hooks_can_be_given_as_a_dictionary():
    x = torch.ones(2, requires_grad=True)
    assert x._backward_hooks is None
    x._backward_hooks = {0: lambda grad: grad * 5}
    x.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_a_view_of_an_inference_tensor_requires_no_gradient():
    with torch.inference_mode():
        x = torch.ones(2, requires_grad=True)
    for view in (x.view(-1), x[0], x.unbind()[0]):
        assert view.is_inference()
        assert not view.requires_grad
        assert not view._is_view()


def test_an_inference_tensor_is_not_written_to_by_out():
    with torch.inference_mode():
        x = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
        torch.mul(torch.ones(2), 2, out=x)


def test_anomalies_are_printed_where_warnings_are_errors(capsys):
    with torch.autograd.set_detect_anomaly(True):
        x = torch.ones(2, requires_grad=True) * 1
        y = x**2
        x += 1
        with (
            pytest.raises(RuntimeError, match="modified by an inplace operation"),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("error")
            y.sum().backward()
    assert "Error detected in PowBackward0" in capsys.readouterr().err


def test_nodes_are_instances_of_the_node_that_pytorch_shows():
    class_of_nodes = torch.autograd.graph.Node
    y = torch.ones(2, requires_grad=True).exp()
    assert isinstance(y.grad_fn, class_of_nodes)
    assert issubclass(type(y.grad_fn), class_of_nodes)
    assert class_of_nodes not in type(y.grad_fn).mro()
    assert not isinstance(1, class_of_nodes)
    assert issubclass(torch._C._functions.DelayedError, class_of_nodes)


def test_views_can_be_told_to_keep_their_kind():
    def written():
        out = torch.ones(2, 2, requires_grad=True).clone().view(-1)
        return out.add_(1)

    assert written().grad_fn.name() == "AsStridedBackward0"
    with torch.autograd._force_original_view_tracking(True):
        out = written()
    assert out.grad_fn.name() == "ViewBackward0"
    out.sum().backward()


def test_products_with_several_zeros_are_differentiable_once():
    x = torch.ones(1, requires_grad=True)
    src = torch.zeros(2, requires_grad=True)
    index = torch.zeros(2, dtype=torch.int64)
    for reduce in (torch.scatter_reduce, torch.index_reduce):
        (grad,) = torch.autograd.grad(reduce(x, 0, index, src, "prod"), src, create_graph=True)
        with pytest.raises(RuntimeError, match="Double backward is unsupported for"):
            torch.autograd.grad(grad.sum(), x)


def test_an_input_returned_as_it_is_keeps_its_class():
    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs)

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.ones(2).as_subclass(Mine).requires_grad_()
    y = Same.apply(x)
    assert isinstance(y, Mine)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
