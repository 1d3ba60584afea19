"""Long lines of the kernel, whose transform is computed on a grid, and convolutions of masses on a lattice."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from epsilond.accountants.curve.facts import Direction, SampledGaussianLaw
from epsilond.accountants.engine import kernel
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.low_noise.table import _convolve

SOURCES = Path(__file__).parents[2] / "kernel/src"
PROGRAM = """
#include "grid.h"

double transform_on_grid(int kept, double *weight, double *deviation, double spacing, int nodes, double *real,
                         double *imaginary)
{
    Weighing at = {.size = kept, .kept = kept, .weight = weight, .deviation = deviation};
    Change change = {.real = real, .imaginary = imaginary};
    double error = grid_error(&at, spacing, nodes);
    return grid_change(&at, spacing, nodes, &change) == DONE ? error : -1.0;
}
"""
"""A function that calls the grid of the kernel, which the module does not offer."""
FILES = ("grid.c", "fourier.c", "loss.c", "powers.c")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The functions of the grid, compiled alone."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is needed")
    folder = tmp_path_factory.mktemp("grid")
    (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
    flags = ["-std=c11", "-O2", "-ffp-contract=off", "-fPIC", "-shared", f"-I{SOURCES}"]
    files = [str(SOURCES / name) for name in FILES]
    made = folder / "grid.so"
    subprocess.run([compiler, *flags, str(folder / "program.c"), *files, "-o", str(made), "-lm"], check=True)
    loaded = ctypes.CDLL(str(made))
    loaded.transform_on_grid.restype = ctypes.c_double
    return loaded


def pointer(numbers: np.ndarray) -> object:
    """Return the address of doubles."""
    return numbers.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


@pytest.mark.parametrize(
    ("size", "nodes", "largest", "spacing"),
    [
        (700, 1500, 12.0, 0.0625),
        (3, 40, 1e-3, 0.5),
        (1, 1000, 0.0, 1.0),
        (400, 2047, 300.0, 0.25),
        (50, 11000, 2.0, 3.0),
    ],
)
def test_a4_the_transform_on_a_grid_is_within_its_error(
    library: ctypes.CDLL, size: int, nodes: int, largest: float, spacing: float
) -> None:
    generator = np.random.default_rng(size)
    deviation = np.sort(generator.normal(size=size)) * largest / 3.0
    deviation[: size // 3] = -0.2 * largest
    weight = generator.random(size)
    weight /= weight.sum()
    real, imaginary = np.empty(nodes), np.empty(nodes)
    error = library.transform_on_grid(
        ctypes.c_int(size), pointer(weight), pointer(deviation), ctypes.c_double(spacing), ctypes.c_int(nodes),
        pointer(real), pointer(imaginary),
    )  # fmt: skip
    assert 0.0 < error < 1e-9
    angles = np.outer(np.arange(nodes, dtype=np.longdouble) * spacing, deviation.astype(np.longdouble))
    exact_real = (np.cos(angles) - 1.0) @ weight.astype(np.longdouble)
    exact_imaginary = np.sin(angles) @ weight.astype(np.longdouble)
    assert np.hypot(real - exact_real, imaginary - exact_imaginary).max() <= error
    assert real[0] == imaginary[0] == 0.0


@pytest.mark.parametrize("epsilon", [0.5, 12.0, 40.0])
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("rate", "shift", "count"), [(0.01, 1 / 0.35, 100), (0.02, 1 / 0.4, 60), (0.002, 2.5, 700)])
def test_a4_lines_on_a_grid_meet_the_reference(
    module: ModuleType, rate: float, shift: float, count: int, direction: Direction, epsilon: float
) -> None:
    laws = [(SampledGaussianLaw(rate, shift, direction), count)]
    epsilon *= 1.0 if direction == "remove" else 0.01
    found = kernel.log_delta(laws, epsilon)
    expected = contour.log_delta(laws, epsilon)
    assert module is not None
    assert found is not None
    assert found.bounds.lower <= expected.upper
    assert expected.lower <= found.bounds.upper
    assert found.width <= 1e-7


@pytest.mark.parametrize("points", [4, 16, 512, 8192])
@pytest.mark.parametrize("sizes", [(1,), (2, 3), (4, 3, 1)])
def test_a_convolution_is_that_of_the_masses_one_by_one(
    module: ModuleType, points: int, sizes: tuple[int, ...]
) -> None:
    assert module is not None
    generator = np.random.default_rng(points)
    steps = [(generator.random(min(size * points // 4, points)) + 1e-9, place + 2) for place, size in enumerate(sizes)]
    steps = [(masses / masses.sum(), count) for masses, count in steps]
    expected = np.zeros(points)
    expected[0] = 1.0
    for masses, count in steps:
        whole = np.zeros(points)
        whole[: masses.size] = masses
        for _ in range(count):
            product = np.convolve(expected, whole)
            expected = product[:points].copy()
            expected[: points - 1] += product[points:]
    found = kernel.convolve(steps, points)
    assert found is not None
    assert np.abs(found - expected).max() <= 1e-14
    assert np.abs(_convolve(steps, points) - expected).max() <= 1e-14


def test_a_convolution_without_meaning_is_refused(module: ModuleType) -> None:
    convolve, masses = module.Composition.convolve, np.asarray([0.5, 0.5])
    for bits, steps in (
        (1, ((masses, 1),)), (25, ((masses, 1),)), (-3, ((masses, 1),)), (4, ()), (4, ((masses, 0),)), (4, ((b"", 1),)),
        (4, ((np.ones(17), 1),)), (4, ((masses, 1), (masses[:0], 1))), (4, ((masses, 1),) * 65), (4, ((masses, -1),)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="out of range"):
            convolve(bits, steps)
    with pytest.raises(ValueError, match="contiguous"):
        convolve(4, ((np.ones(8)[::2], 1),))
    with pytest.raises(TypeError):
        convolve(4, ((1.0, 1),))


def test_without_a_kernel_nothing_is_convolved(use: pytest.MonkeyPatch) -> None:
    use.setenv("EPSILOND_KERNEL", "off")
    assert kernel.convolve([(np.ones(1), 1)], 4) is None


@pytest.mark.parametrize(("noise", "delta"), [(0.35, 1e-5), (0.35, 0.3), (0.3, 1e-5), (0.25, 1e-5)])
def test_runs_with_more_noise_than_the_tables_need_are_known_closely(
    module: ModuleType, noise: float, delta: float
) -> None:
    found = kernel.epsilon([(SampledGaussianLaw(0.01, 1.0 / noise, "remove"), 100)], math.log(delta), 0.0)
    assert module is not None
    assert found is not None
    assert found.bounds.upper - found.bounds.lower <= 1.1e-7 * found.bounds.upper
