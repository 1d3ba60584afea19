"""Sensitivities of clipped updates, by enumeration of rounded points of a small ball."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from epsilond.accountants.theorems.papers.das.clipped_updates import CLIPPED


@pytest.mark.compares("das.clipped-updates")
@pytest.mark.parametrize(("dimension", "levels", "clients"), [(1, 4, 1), (2, 3, 2), (3, 2, 5)])
def test_the_largest_distances_by_enumeration(dimension: int, levels: int, clients: int) -> None:
    """Of the cube, exactly; and of what the ball is rounded to, with one uniform number for both neighbours."""
    inputs = CLIPPED.request(dimension=dimension, quantization_levels=levels, participants=clients)
    found = CLIPPED.evaluate(inputs).outputs
    points = np.asarray(list(itertools.product(range(-levels, levels + 1), repeat=dimension)))
    moves = np.abs(points[:, None, :] - points[None, :, :])
    wanted = {"l1_sensitivity": moves.sum(axis=2).max(), "linf_sensitivity": moves.max()}
    wanted |= {f"mean_{name}": value / clients for name, value in wanted.items()}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-15)
    rng = np.random.default_rng(1)
    pairs = rng.normal(size=(4000, 2, dimension))
    pairs /= np.maximum(1.0, np.linalg.norm(pairs, axis=2))[..., None]
    pairs[0] = [np.full(dimension, dimension**-0.5), np.full(dimension, -(dimension**-0.5))]
    rounded = np.floor(levels * pairs + rng.uniform(size=(4000, 1, dimension)))
    apart = np.abs(rounded[:, 0] - rounded[:, 1])
    assert apart.sum(axis=1).max() <= found["sharper_l1_sensitivity"]
    assert np.sqrt((apart**2).sum(axis=1)).max() <= found["sharper_l2_sensitivity"]
    root = math.sqrt(dimension)
    assert found["sharper_l1_sensitivity"] == pytest.approx(
        min(2 * dimension * levels, 2 * levels * root + dimension), rel=1e-12
    )
    assert found["sharper_l2_sensitivity"] == pytest.approx(min(2 * levels + root, 2 * levels * root), rel=1e-12)
    assert found["sharper_linf_sensitivity"] == 2 * levels
