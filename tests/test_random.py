"""The random numbers of PyTorch: captured from it, and compared with it where it is installed."""

import copy
import math
import pickle
import threading
import zlib
from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradfn
from gradfn import from_numpy
from gradfn.random import Generator, default_generator, initial_seed, manual_seed, seed
from gradfn.raw import random as raw
from gradfn.raw.copying import dense_axes
from gradfn.raw.random.floats import multiply_add, quiet
from parity import not_mkl

Sample = Callable[[Generator], np.ndarray]
f16, f32, f64, i64 = np.float16, np.float32, np.float64, np.int64


def seeded(value: int = 42) -> Generator:
    return Generator().manual_seed(value)


def array(*values: float) -> np.ndarray:
    return np.array(values, f32)


# fmt: off
CAPTURED: dict[str, tuple[Sample, list[Any]]] = {
    "rand": (lambda g: raw.uniform(g, (5,), f32), [
        0.8822692632675171, 0.9150039553642273, 0.38286375999450684, 0.9593056440353394,
        0.3904482126235962]),
    "rand float64": (lambda g: raw.uniform(g, (3,), f64), [
        0.05815448596142969, 0.06291016742457756, 0.12358607277440903]),
    "rand float16": (lambda g: raw.uniform(g, (4,), f16), [
        0.88232421875, 0.9150390625, 0.3828125, 0.95947265625]),
    "uniform_(-0.3, 5.77)": (lambda g: raw.uniform(g, (4,), f32, -0.3, 5.77), [
        5.055374622344971, 5.2540740966796875, 2.0239830017089844, 5.522985458374023]),
    "randn": (lambda g: raw.normal(g, (5,), f32), [
        0.33669036626815796, 0.12880940735340118, 0.23446236550807953, 0.23033303022384644,
        -1.1228563785552979]),
    "randn in rows": (lambda g: raw.normal(g, (18,), f32), [
        1.9269152879714966, 1.4872840642929077, -0.4973975419998169, 0.439589262008667,
        -0.7581311464309692, 1.078317642211914, 0.8008005619049072, 1.680620551109314,
        0.3558599054813385, -0.6866229772567749, 0.610466480255127, 1.334737777709961,
        -0.2316243201494217, 0.041759490966796875, -0.2515752911567688, 0.859858512878418,
        -0.3097267746925354, -0.3957104980945587]),
    "randn float64": (lambda g: raw.normal(g, (3,), f64), [
        0.33669035438385886, 0.1288094051365897, 0.23446236336153173]),
    "randn float64 in rows": (lambda g: raw.normal(g, (17,), f64)[[0, 1, 8, 16]], [
        0.2995562877502637, 1.504572275678796, 0.038435238263354446, 0.2494118796915765]),
    "randn float16 in rows": (lambda g: raw.normal(g, (20,), f16), [
        1.9267578125, 1.4873046875, 0.90087890625, -2.10546875, 1.642578125, -0.1595458984375,
        -0.497314453125, 0.439697265625, -0.75830078125, 1.078125, 0.80078125, 1.6806640625,
        1.279296875, 1.296875, 0.6103515625, 1.3349609375, -0.2315673828125, 0.041748046875,
        -0.25146484375, 0.85986328125]),
    "randn complex64": (lambda g: raw.normal(g, (2,), np.complex64), [
        0.23807603120803833 + 0.09108200669288635j, 0.16578993201255798 + 0.16287004947662354j]),
    "randint(-5, 100)": (lambda g: raw.randint(g, (6,), i64, -5, 100), [52, -3, 41, 14, 76, 75]),
    "randint(0, 2**40)": (lambda g: raw.randint(g, (3,), i64, 0, 2**40), [
        441507790259, 395924837646, 458615280711]),
    "random_ int64": (lambda g: raw.randint(g, (3,), i64), [
        6909045637428952499, 8314211556539077902, 4279532810384561223]),
    "random_ float32": (lambda g: raw.randint(g, (3,), f32), [14801927.0, 15351016.0, 6423145.0]),
    "random_(-2**63, None)": (lambda g: raw.randint(g, (3,), i64, -(2**63)), [
        6909045637428952499, -909160480315697906, -4943839226470214585]),
    "randperm": (lambda g: raw.randperm(g, 10), [2, 6, 1, 8, 4, 5, 0, 9, 3, 7]),
    "bernoulli_(0.3)": (lambda g: raw.bernoulli(g, (8,), f32, 0.3), [1, 1, 1, 1, 0, 0, 0, 0]),
    "bernoulli(tensor)": (
        lambda g: raw.bernoulli(g, (6,), f32, array(0.1, 0.5, 0.9, 0.3, 0.7, 0.2)),
        [0, 0, 1, 0, 1, 0]),
    "exponential_(0.7)": (lambda g: raw.exponential(g, (4,), f32, 0.7), [
        0.08559145033359528, 0.09282304346561432, 0.18845254182815552, 0.07716135680675507]),
    "geometric_(0.1)": (lambda g: raw.geometric(g, (5,), i64, 0.1), [27, 27, 20, 28, 7]),
    "cauchy_(0.5, 2)": (lambda g: raw.cauchy(g, (4,), f32, 0.5, 2.0), [
        -10.32497501373291, -9.487401962280273, -4.389748573303223, -11.497279167175293]),
    "log_normal_(0.5, 2)": (lambda g: raw.log_normal(g, (3,), f32, 0.5, 2.0), [
        3.2329037189483643, 2.133190631866455, 2.6351094245910645]),
    "poisson": (
        lambda g: raw.poisson(g, array(0.0, 0.5, 3.0, 9.9, 10.0, 50.0, 1000.0, 1e6)),
        [0, 0, 1, 7, 9, 59, 1010, 1000594]),
    "multinomial": (
        lambda g: raw.multinomial(g, np.array([[0.1, 0.2, 0.3, 0.4], [4, 3, 2, 1]], f32), 3),
        [[3, 1, 2], [0, 1, 2]]),
    "multinomial with replacement": (
        lambda g: raw.multinomial(g, array(0.1, 0.2, 0.3, 0.4), 8, replacement=True),
        [0, 0, 1, 0, 2, 2, 3, 3]),
}
# fmt: on

# CRC-32 of a thousand numbers after manual_seed(42).
CHECKSUMS: dict[str, tuple[Sample, int]] = {
    "rand": (lambda g: raw.uniform(g, (1000,), f32), 3579030519),
    "rand float64": (lambda g: raw.uniform(g, (1000,), f64), 756739536),
    "uniform_": (lambda g: raw.uniform(g, (1000,), f32, -0.3, 5.77), 44861634),
    "uniform_ float64": (lambda g: raw.uniform(g, (1000,), f64, -0.3, 5.77), 578910218),
    "randn": (lambda g: raw.normal(g, (1000,), f32), 2288653614),
    "normal_": (lambda g: raw.normal(g, (1000,), f32, 0.3, 1.7), 1728296327),
    "randint": (lambda g: raw.randint(g, (1000,), i64, 0, 1000), 3590950605),
    "randint wide": (lambda g: raw.randint(g, (1000,), i64, -(2**40), 2**50), 4019568747),
    "randperm": (lambda g: raw.randperm(g, 1000), 441664704),
    "bernoulli_": (lambda g: raw.bernoulli(g, (1000,), f32, 0.3), 1913396646),
    "geometric_": (lambda g: raw.geometric(g, (1000,), i64, 0.01), 2252213996),
    "poisson": (lambda g: raw.poisson(g, np.arange(1000, dtype=f32) / f32(20)), 3240132498),
}


@pytest.mark.parametrize("name", CAPTURED)
def test_captured_numbers(name: str) -> None:
    sample, expected = CAPTURED[name]
    got = sample(seeded())
    if got.dtype == f64 and "randn" in name:
        np.testing.assert_allclose(got, expected, rtol=4 * np.finfo(f64).eps)
    else:
        assert got.tolist() == expected


@pytest.mark.parametrize("name", CHECKSUMS)
def test_checksums(name: str) -> None:
    sample, expected = CHECKSUMS[name]
    assert zlib.crc32(sample(seeded()).tobytes()) == expected


def test_shapes_and_empty_samples_draw_nothing() -> None:
    generator = seeded()
    before = generator.pack()
    for shape in ((0,), (3, 0)):
        assert raw.uniform(generator, shape, f32).shape == shape
        assert raw.normal(generator, shape, np.complex64).shape == shape
        assert raw.poisson(generator, np.ones(shape)).shape == shape
    assert raw.randperm(generator, 0).tolist() == []
    assert raw.randperm(generator, 1).tolist() == [0]
    assert raw.multinomial(generator, np.ones((0, 2)), 1, replacement=True).shape == (0, 1)
    assert (generator.pack() == before).all()
    assert raw.normal(generator, (), f32).shape == ()
    assert raw.randint(generator, (2, 3), np.int8, 0, 5).shape == (2, 3)


@pytest.mark.parametrize(
    ("value", "initial", "first"),
    [
        (0, 0, 0.49625658988952637),
        (-1, 2**64 - 1, 0.9937993884086609),
        (2**64 - 1, 2**64 - 1, 0.9937993884086609),
        (2**32 + 5, 2**32 + 5, 0.8302518725395203),
        (-(2**63), 2**63, 0.49625658988952637),
    ],
)
def test_seeds(value: int, initial: int, first: float) -> None:
    generator = seeded(value)
    assert generator.initial_seed() == initial
    assert raw.uniform(generator, (1,), f32) == f32(first)


@pytest.mark.parametrize(
    ("value", "error", "phrase"),
    [
        (-(2**63) - 1, ValueError, "Overflow when unpacking long long"),
        (2**64, ValueError, "Overflow when unpacking long long"),
        (1.0, RuntimeError, "manual_seed expected a long, but got float"),
        (True, RuntimeError, "manual_seed expected a long, but got bool"),
        ("1", RuntimeError, "manual_seed expected a long, but got str"),
    ],
)
def test_seeds_out_of_range(value: Any, error: type[Exception], phrase: str) -> None:
    with pytest.raises(error, match=phrase):
        Generator().manual_seed(value)


def test_a_new_generator_has_the_default_seed() -> None:
    assert Generator().initial_seed() == 67280421310721
    assert raw.uniform(Generator(), (1,), f32) == f32(0.267295241355896)


def test_the_default_generator() -> None:
    assert manual_seed("3") is default_generator
    assert initial_seed() == 3
    assert seed() == initial_seed() != 3


def test_only_the_cpu_has_a_generator() -> None:
    assert str(Generator("cpu").device) == "cpu"
    with pytest.raises(RuntimeError, match="Cannot get a generator for cuda"):
        Generator("cuda")


def test_state_is_laid_out_as_in_pytorch() -> None:
    generator = seeded()
    assert zlib.crc32(generator.pack().tobytes()) == 3998256470
    raw.normal(generator, (3,), f32)
    state = generator.pack().tobytes()
    assert zlib.crc32(state[:5024]) == 93107411
    assert zlib.crc32(state[5032:]) == 229202865
    kept = np.frombuffer(bytes.fromhex("227c0a7b8d7bcd3f"))
    np.testing.assert_allclose(np.frombuffer(state[5024:5032]), kept, rtol=1e-15)


def test_copies_go_on_alike_and_apart() -> None:
    generator = seeded()
    raw.normal(generator, (3,), f32)
    copies = [
        generator.clone_state(),
        Generator().set_state(generator.get_state()),
        copy.deepcopy(generator),
        pickle.loads(pickle.dumps(generator)),
    ]
    expected = raw.normal(generator, (700,), f32, contiguous=False)
    for other in copies:
        assert other.initial_seed() == 42
        assert (raw.normal(other, (700,), f32, contiguous=False) == expected).all()


def test_wrong_states_are_refused() -> None:
    generator = seeded()
    before = generator.pack()
    with pytest.raises(RuntimeError, match="Expected a CPUGeneratorImplState of size 5056"):
        generator.unpack(np.zeros(5, np.uint8))
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        generator.unpack(np.zeros(5056, np.uint8))
    assert (generator.pack() == before).all()


def test_threads_share_a_generator() -> None:
    """Each call gets three consecutive numbers of the one stream."""
    shared, alone = seeded(), seeded()
    calls: list[tuple[float, ...]] = []

    def draw() -> None:
        for _ in range(200):
            calls.append(tuple(raw.normal(shared, (3,), f64).tolist()))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(calls) == {tuple(raw.normal(alone, (3,), f64).tolist()) for _ in range(800)}


@given(st.integers(1, 40), st.integers(0, 2**64 - 1))
def test_randperm_is_fisher_and_yates_shuffle(n: int, value: int) -> None:
    expected = list(range(n))
    for i, bits in enumerate(seeded(value).bits32(n - 1).tolist()):
        j = i + bits % (n - i)
        expected[i], expected[j] = expected[j], expected[i]
    assert raw.randperm(seeded(value), n).tolist() == expected


ordinary = st.floats(-1e3, 1e3).filter(lambda x: x == 0 or abs(x) > 1e-100)


@given(ordinary, ordinary, ordinary)
def test_multiply_add_rounds_once(x: float, factor: float, addend: float) -> None:
    exact = Fraction(x) * Fraction(factor) + Fraction(addend)
    assert multiply_add(np.array([x]), factor, addend)[0] == float(exact)


@quiet
def test_multiply_add_keeps_infinities() -> None:
    assert multiply_add(np.array([0.5]), 1.7e308, 0.0)[0] == 0.85e308
    assert multiply_add(np.array([2.0]), 1.7e308, 0.0)[0] == math.inf
    assert multiply_add(np.array([2.0]), math.inf, 1.0)[0] == math.inf
    assert multiply_add(np.array([2.0]), 3.0, -math.inf)[0] == -math.inf


def test_a_rounded_up_bound_is_excluded() -> None:
    values = raw.uniform(seeded(), (10_000,), f16, 1.0, 2.0)
    assert values.min() == 1
    assert values.max() < 2


def test_dense_axes() -> None:
    array = np.empty((2, 3, 4)).transpose(2, 0, 1)
    assert dense_axes(array) == (1, 2, 0)
    assert dense_axes(np.empty((2, 3))) == (0, 1)
    assert dense_axes(np.empty(())) == ()


def test_integers_beyond_a_floating_dtype_warn() -> None:
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-2048, 2048\]"):
        values = raw.randint(seeded(), (1000,), f16, 0, 3000)
    assert values.max() <= 3000


# What PyTorch refuses, with the words its message starts with.
REFUSED: list[tuple[Sample, type[Exception], str]] = [
    (lambda g: raw.uniform(g, (3,), f32, 1, 0), RuntimeError, "uniform_ expects to return a"),
    (lambda g: raw.uniform(g, (3,), f16, 0, 1e5), RuntimeError, "to is out of bounds for"),
    (lambda g: raw.uniform(g, (3,), f32, math.nan, 1), RuntimeError, "from is out of bounds for"),
    (lambda g: raw.uniform(g, (3,), f32, -3e38, 3e38), RuntimeError, "uniform_ expects to-from <="),
    (lambda g: raw.uniform(g, (3,), i64), NotImplementedError, '"check_uniform_bounds" not impl'),
    (lambda g: raw.normal(g, (3,), f32, 0, -1), RuntimeError, "normal expects std >= 0.0, but"),
    (lambda g: raw.normal(g, (3,), f32, 0, math.nan), RuntimeError, "normal expects std >= 0.0"),
    (lambda g: raw.normal(g, (3,), i64), NotImplementedError, '"normal_kernel_cpu" not impl'),
    (lambda g: raw.exponential(g, (3,), f32, 0), RuntimeError, "exponential_ expects lambda > 0.0"),
    (lambda g: raw.exponential(g, (3,), i64), RuntimeError, "Exponential distribution is a conti"),
    (lambda g: raw.geometric(g, (3,), f32, 1), RuntimeError, r"geometric_ expects p to be in \(0,"),
    (lambda g: raw.geometric(g, (3,), np.bool_, 0.5), NotImplementedError, '"geometric_cpu" not'),
    (lambda g: raw.cauchy(g, (3,), f32, 0, 0), RuntimeError, "cauchy_ expects sigma > 0.0"),
    (lambda g: raw.cauchy(g, (3,), i64), RuntimeError, "Cauchy distribution is a continuous"),
    (lambda g: raw.log_normal(g, (3,), f32, 0, 0), RuntimeError, "log_normal_ expects std > 0.0"),
    (lambda g: raw.log_normal(g, (3,), i64), NotImplementedError, '"log_normal_cpu" not impl'),
    (lambda g: raw.bernoulli(g, (3,), f32, 1.5), RuntimeError, r"bernoulli_ expects p to be in \["),
    (lambda g: raw.bernoulli(g, (3,), np.complex64, 0.5), NotImplementedError, '"bernoulli_scal'),
    (lambda g: raw.bernoulli(g, (1,), f32, array(2)), RuntimeError, "Expected p_in >= 0 && p_in"),
    (lambda g: raw.bernoulli(g, (1,), f32, array(math.nan)), RuntimeError, "Expected p_in >= 0 &&"),
    (lambda g: raw.bernoulli(g, (1,), f32, np.ones(1, i64)), NotImplementedError, '"bernoulli_te'),
    (lambda g: raw.randint(g, (3,), f32, 3, 3), RuntimeError, "random_ expects 'from' to be less"),
    (lambda g: raw.randint(g, (3,), np.int8, 0, 200), RuntimeError, "to - 1 is out of bounds for"),
    (lambda g: raw.randint(g, (3,), np.uint8, -1, 20), RuntimeError, "from is out of bounds for"),
    (lambda g: raw.randint(g, (3,), np.bool_, 0, 3), RuntimeError, "to - 1 is out of bounds for"),
    (lambda g: raw.randint(g, (3,), np.int8, 128), RuntimeError, "from is out of bounds for"),
    (lambda g: raw.randint(g, (3,), np.uint64, 5), RuntimeError, "to - 1 is out of bounds for"),
    (lambda g: raw.randint(g, (3,), f16, 0, 70000), RuntimeError, "to - 1 is out of bounds for"),
    (
        lambda g: raw.randint(g, (3,), np.uint16),
        NotImplementedError,
        '"random_kernel_cpu" not impl',
    ),
    (
        lambda g: raw.randint(g, (3,), np.complex64, 0, 5),
        RuntimeError,
        "random_from_to_impl handles",
    ),
    (lambda g: raw.randint(g, (3,), f16, -(2**63)), NotImplementedError, '"random_full_64_bits_ra'),
    (lambda g: raw.randperm(g, -1), RuntimeError, "Trying to create tensor with negative dimens"),
    (lambda g: raw.randperm(g, 2050, f16), RuntimeError, "n cannot be greater than 2049 for"),
    (lambda g: raw.randperm(g, 3, np.bool_), NotImplementedError, '"randperm" not implemented for'),
    (
        lambda g: raw.poisson(g, array(-1)),
        RuntimeError,
        "invalid Poisson rate, expected rate to be",
    ),
    (
        lambda g: raw.poisson(g, array(math.nan)),
        RuntimeError,
        "invalid Poisson rate, expected rate",
    ),
    (lambda g: raw.poisson(g, np.ones(1, i64)), NotImplementedError, '"poisson_cpu" not impl'),
    (
        lambda g: raw.multinomial(g, array(1, 2), 3),
        RuntimeError,
        "cannot sample n_sample > prob_dist",
    ),
    (lambda g: raw.multinomial(g, array(1, 2), 0), RuntimeError, "cannot sample n_sample <= 0 sam"),
    (
        lambda g: raw.multinomial(g, array(0, 0), 1),
        RuntimeError,
        "invalid multinomial distribution",
    ),
    (
        lambda g: raw.multinomial(g, array(-1, 1), 1),
        RuntimeError,
        "probability tensor contains eit",
    ),
    (lambda g: raw.multinomial(g, array(math.inf), 1), RuntimeError, "probability tensor contains"),
    (
        lambda g: raw.multinomial(g, np.ones(2, i64), 1),
        RuntimeError,
        "multinomial only supports fl",
    ),
    (lambda g: raw.multinomial(g, f32(1).reshape(()), 1), RuntimeError, "prob_dist must be 1 or 2"),
]


@pytest.mark.parametrize("index", range(len(REFUSED)))
def test_refused(index: int) -> None:
    sample, error, phrase = REFUSED[index]
    generator = seeded()
    before = generator.pack()
    with pytest.raises(error, match=f"^{phrase}"):
        sample(generator)
    assert (generator.pack() == before).all()


# Against PyTorch itself.

FLOATING = ["float16", "bfloat16", "float32", "float64"]
INTEGRAL = ["uint8", "int8", "int16", "int32", "int64"]
COMPLEX = ["complex64", "complex128"]
SIZES = [0, 1, 2, 15, 16, 17, 31, 40, 1000, 40001]
SEEDS = [0, 7, 2**40 + 3, 2**64 - 1]


def numpy_dtype(name: str) -> np.dtype[Any]:
    if name == "bfloat16":
        return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    return np.dtype(name)


def compare(oracle: ModuleType, theirs: Callable[[Any], Any], ours: Sample, ulps: int = 0) -> None:
    """Two calls each on seeded generators: values, dtype, and what they took from the stream.

    float64 may differ by `ulps`, counted at the magnitude of the largest value when below 1.
    """
    for value in SEEDS:
        their_generator, generator = oracle.Generator().manual_seed(value), seeded(value)
        for _ in range(2):
            expected, got = theirs(their_generator), ours(generator)
            assert str(expected.dtype) == f"torch.{got.dtype.name}"
            assert tuple(expected.shape) == got.shape
            if expected.dtype == oracle.bfloat16:
                expected, got = expected.float(), got.astype(f32)
            if got.dtype in (f64, np.complex128) and ulps:
                tolerance = ulps * np.finfo(f64).eps
                np.testing.assert_allclose(got, expected.numpy(), rtol=tolerance, atol=tolerance)
            else:
                np.testing.assert_array_equal(got, expected.numpy())
        state, expected_state = generator.pack(), their_generator.get_state().numpy()
        np.testing.assert_array_equal(state[:5024], expected_state[:5024])
        np.testing.assert_array_equal(state[5032:], expected_state[5032:])


@pytest.mark.parametrize("dtype", FLOATING + COMPLEX)
@pytest.mark.parametrize("n", SIZES)
def test_uniform_is_pytorchs(oracle: ModuleType, n: int, dtype: str) -> None:
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    compare(
        oracle,
        lambda g: oracle.rand(n, generator=g, dtype=theirs),
        lambda g: raw.uniform(g, (n,), ours),
    )
    for low, high in ((-0.3, 5.77), (3.0, 3.0), (100.0, 100.1)):
        compare(
            oracle,
            lambda g, a=low, b=high: oracle.empty(n, dtype=theirs).uniform_(a, b, generator=g),
            lambda g, a=low, b=high: raw.uniform(g, (n,), ours, a, b),
        )


@pytest.mark.parametrize("dtype", FLOATING + COMPLEX)
@pytest.mark.parametrize("n", SIZES)
def test_normal_is_pytorchs(oracle: ModuleType, n: int, dtype: str) -> None:
    if n >= 16 and oracle.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"):
        pytest.skip("without AVX2, PyTorch rounds float32 normals differently")
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    for mean, std in ((0.0, 1.0), (0.3, 1.7), (-2.0, 0.0)):
        compare(
            oracle,
            lambda g, m=mean, s=std: oracle.empty(n, dtype=theirs).normal_(m, s, generator=g),
            lambda g, m=mean, s=std: raw.normal(g, (n,), ours, m, s),
            ulps=4,
        )


@not_mkl
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("n", SIZES)
def test_exponential_is_pytorchs(oracle: ModuleType, n: int, dtype: str) -> None:
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    for rate in (1.0, 0.7, math.inf):
        compare(
            oracle,
            lambda g, r=rate: oracle.empty(n, dtype=theirs).exponential_(r, generator=g),
            lambda g, r=rate: raw.exponential(g, (n,), ours, r),
            ulps=4,
        )


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("n", SIZES)
def test_cauchy_is_pytorchs(oracle: ModuleType, n: int, dtype: str) -> None:
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    compare(
        oracle,
        lambda g: oracle.empty(n, dtype=theirs).cauchy_(0.7, 1.3, generator=g),
        lambda g: raw.cauchy(g, (n,), ours, 0.7, 1.3),
        ulps=4,
    )


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("n", SIZES)
def test_log_normal_is_pytorchs(oracle: ModuleType, n: int, dtype: str) -> None:
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    compare(
        oracle,
        lambda g: oracle.empty(n, dtype=theirs).log_normal_(0.2, 0.9, generator=g),
        lambda g: raw.log_normal(g, (n,), ours, 0.2, 0.9),
        ulps=8,
    )


@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL, "bool"])
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_random_is_pytorchs(oracle: ModuleType, n: int, dtype: str) -> None:
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    compare(
        oracle,
        lambda g: oracle.empty(n, dtype=theirs).random_(generator=g),
        lambda g: raw.randint(g, (n,), ours),
    )


RANGES: list[tuple[int, int | None]] = [
    (0, 2),
    (0, 10),
    (1, None),
    (-5, 100),
    (-5, None),
    (0, 2**8 + 5),
    (-607, 5),
    (-607, None),
    (-2999, 7),
    (2501, 2503),
    (-65504, 65505),
    (-(2**27), 2**27 - 1),
    (-(2**27), 2**27),
    (0, 2**28),
    (0, 2**28 + 1),
    (2**25 + 1, 2**25 + 2),
    (-(2**31), None),
    (-(2**40), 2**41 + 13),
    (2**24, None),
    (0, 2**53 + 3),
    (-(2**63), 2**63 - 1),
    (-(2**63), None),
]


@pytest.mark.filterwarnings("ignore:.*is out of bounds")
@pytest.mark.parametrize("low_high", RANGES, ids=str)
@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL, "bool", "uint16", "uint32", "uint64"])
def test_ranges_are_pytorchs(
    oracle: ModuleType, low_high: tuple[int, int | None], dtype: str
) -> None:
    """The same numbers, or the same exception."""
    low, high = low_high
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    try:
        oracle.empty(1, dtype=theirs).random_(low, high)
    except RuntimeError as error:
        with pytest.raises(RuntimeError) as caught:
            raw.randint(seeded(), (1,), ours, low, high)
        assert type(caught.value) is type(error)
        assert str(caught.value).split()[:4] == str(error).split()[:4]
        return
    compare(
        oracle,
        lambda g: oracle.empty(500, dtype=theirs).random_(low, high, generator=g),
        lambda g: raw.randint(g, (500,), ours, low, high),
    )


@pytest.mark.parametrize("n", [0, 1, 2, 3, 100, 128, 2049, 50_000])
@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL])
def test_randperm_is_pytorchs(oracle: ModuleType, n: int, dtype: str) -> None:
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    try:
        oracle.randperm(n, dtype=theirs)
    except RuntimeError:
        with pytest.raises(RuntimeError, match="n cannot be greater than"):
            raw.randperm(seeded(), n, ours)
        return
    compare(
        oracle,
        lambda g: oracle.randperm(n, generator=g, dtype=theirs),
        lambda g: raw.randperm(g, n, ours),
    )


@not_mkl
@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL, "bool"])
def test_bernoulli_is_pytorchs(oracle: ModuleType, dtype: str) -> None:
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    for p in (0.0, 0.3, 1.0):
        compare(
            oracle,
            lambda g, p=p: oracle.empty(40, 25, dtype=theirs).bernoulli_(p, generator=g),
            lambda g, p=p: raw.bernoulli(g, (40, 25), ours, p),
        )


@pytest.mark.parametrize("dtype", FLOATING)
def test_bernoulli_of_an_array_is_pytorchs(oracle: ModuleType, dtype: str) -> None:
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    p = np.linspace(0, 1, 25).astype(ours)
    compare(
        oracle,
        lambda g: oracle.empty(40, 25).bernoulli_(
            oracle.linspace(0, 1, 25, dtype=oracle.float64).to(theirs), generator=g
        ),
        lambda g: raw.bernoulli(g, (40, 25), f32, p),
    )


@not_mkl
@pytest.mark.parametrize("p", [0.1, 0.5])
def test_dropout_takes_its_mask_from_bernoulli(oracle: ModuleType, p: float) -> None:
    oracle.manual_seed(3)
    kept = oracle.dropout(oracle.ones(1000), p, True).numpy() != 0
    assert (kept == raw.bernoulli(seeded(3), (1000,), np.bool_, 1 - p)).all()


@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGRAL])
@pytest.mark.parametrize("p", [0.9, 0.1, 0.001])
def test_geometric_is_pytorchs(oracle: ModuleType, p: float, dtype: str) -> None:
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    compare(
        oracle,
        lambda g: oracle.empty(1000, dtype=theirs).geometric_(p, generator=g),
        lambda g: raw.geometric(g, (1000,), ours, p),
    )


@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("scale", [1, 9.9, 30, 1000])
def test_poisson_is_pytorchs(oracle: ModuleType, scale: float, dtype: str) -> None:
    theirs, ours = getattr(oracle, dtype), numpy_dtype(dtype)
    rates = (np.arange(600) / 600 * scale).astype(ours)
    their_rates = oracle.tensor(rates.astype(f64), dtype=theirs)
    compare(
        oracle,
        lambda g: oracle.poisson(their_rates, generator=g),
        lambda g: raw.poisson(g, rates),
    )


def test_poisson_of_huge_rates_is_pytorchs(oracle: ModuleType) -> None:
    rates = np.array([1e30, math.inf])
    compare(
        oracle,
        lambda g: oracle.poisson(oracle.tensor(rates), generator=g),
        lambda g: raw.poisson(g, rates),
    )


@pytest.mark.parametrize("replacement", [True, pytest.param(False, marks=not_mkl)])
@pytest.mark.parametrize("dtype", FLOATING)
@pytest.mark.parametrize("shape", [(1,), (7,), (4, 30), (300,), (2, 3000)])
@pytest.mark.parametrize("n", [1, 5])
def test_multinomial_is_pytorchs(
    oracle: ModuleType, n: int, shape: tuple[int, ...], dtype: str, replacement: bool
) -> None:
    if not replacement and n > shape[-1]:
        pytest.skip("more samples than categories")
    if not replacement and n > 1 and dtype == "bfloat16":
        pytest.skip("PyTorch's order among ties, frequent in bfloat16, is not defined")
    weights = raw.uniform(seeded(1), shape, f64).astype(numpy_dtype(dtype)) + numpy_dtype(
        dtype
    ).type(0.25)
    their_weights = oracle.tensor(weights.astype(f64), dtype=getattr(oracle, dtype))
    compare(
        oracle,
        lambda g: oracle.multinomial(their_weights, n, replacement, generator=g),
        lambda g: raw.multinomial(g, weights, n, replacement),
    )
    if weights.ndim == 2 and n <= len(weights):
        compare(
            oracle,
            lambda g: oracle.multinomial(their_weights.T, n, replacement, generator=g),
            lambda g: raw.multinomial(g, weights.T, n, replacement),
        )


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_in_place_samplers_follow_memory(oracle: ModuleType, axes: tuple[int, ...]) -> None:
    array = np.empty((4, 5, 6), f32)[:, ::2].transpose(axes)
    tensor = oracle.empty(4, 5, 6)[:, ::2].permute(axes)
    generator = seeded()
    oracle.manual_seed(42)
    drawn = raw.in_memory_order(raw.uniform, generator, array)
    np.testing.assert_array_equal(drawn, tensor.uniform_().numpy())
    drawn = raw.in_memory_order(raw.normal, generator, array, contiguous=False)
    np.testing.assert_array_equal(drawn, tensor.normal_().numpy())


def test_expanded_inputs_are_drawn_for_in_pytorch_s_order(oracle: ModuleType) -> None:
    halves = np.full((3, 4), 0.5, f32)
    ours = from_numpy(halves).t().expand(2, 4, 3)
    theirs = oracle.from_numpy(halves).t().expand(2, 4, 3)
    oracle.manual_seed(42), manual_seed(42)
    for name, arguments in (("bernoulli", ()), ("dropout", (0.5, True))):
        mine = getattr(gradfn, name)(ours, *arguments)
        expected = getattr(oracle, name)(theirs, *arguments)
        np.testing.assert_array_equal(mine.numpy(), expected.numpy())
        assert mine.stride() == expected.stride()


@pytest.mark.parametrize("drawn", [0, 1, 623, 624, 625, 5000])
def test_states_can_be_exchanged(oracle: ModuleType, drawn: int) -> None:
    theirs = oracle.Generator().manual_seed(99)
    oracle.rand(drawn, generator=theirs)
    oracle.randn(3, generator=theirs)
    ours = Generator().set_state(from_numpy(theirs.get_state().numpy()))
    assert (ours.pack() == theirs.get_state().numpy()).all()
    back = oracle.Generator()
    back.set_state(oracle.from_numpy(ours.get_state().numpy()))
    expected = oracle.empty(30, 30).t().normal_(generator=theirs).numpy()
    np.testing.assert_array_equal(
        oracle.empty(30, 30).t().normal_(generator=back).numpy(), expected
    )
    drawn_here = raw.normal(ours, (30, 30), f32, contiguous=False)
    np.testing.assert_array_equal(drawn_here.T, expected)
