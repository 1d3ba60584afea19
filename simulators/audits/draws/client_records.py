"""Attacks on all records of a client, some of which are in a random batch; they are equal, and all others are zero."""

from __future__ import annotations

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.specs import Subsampled
from epsilond.simulators.audits.noise import NoisyValue
from epsilond.simulators.audits.random_sizes import RandomlySizedValue
from epsilond.simulators.audits.worlds import FIRST, AttackedMechanism, AttackSetting

MOST_RECORDS = 1000
"""Largest number of records of a client that an attack has a density for."""


def attack_client_records(spec: Subsampled, inner: AttackedMechanism, setting: AttackSetting) -> AttackedMechanism:
    """Return the attack on all records of a client, of which a random number is in the batch.

    The data sets differ in all records of the client, which are equal. Their number in the batch is binomial for
    Poisson sampling, and hypergeometric for batches of fixed size.

    Args:
        spec: the draw of records, with the number of records of one client.
        inner: attack on one record that is in the batch.
        setting: neighbouring relation that is attacked.

    Returns:
        A sampler of outputs, with their log densities on each neighbouring data set.

    Raises:
        InvalidInput: the mechanism is not noise on one number, the client has too many records, or the relation is
            add-or-remove-one for batches of fixed size.
    """
    from scipy.stats import binom, hypergeom  # noqa: PLC0415  the import takes a second, and only this draw needs it

    records = spec.records_of_one_client or 1
    if not isinstance(inner, NoisyValue):
        raise InvalidInput.at("/mechanism/kind", "several records add up where noise is added to one number")
    # The attack computes one density for each number of records.
    if records > MOST_RECORDS:
        raise InvalidInput.at("/records_of_one_client", "is more than an attack can add", allowed=f"≤ {MOST_RECORDS}")
    if spec.sampling == "without-replacement" and setting.relation == "add-or-remove-one":
        raise InvalidInput.at("/relation", "a batch of fixed size is drawn", allowed="replace-one, zero-out-one")

    # Probability of each number of the client's records in the batch.
    numbers = np.arange(records + 1)
    if spec.sampling == "without-replacement" and spec.batch_size is not None and spec.population is not None:
        masses = np.asarray(hypergeom.pmf(numbers, spec.population, records, spec.batch_size))
    else:
        masses = np.asarray(binom.pmf(numbers, records, spec.inclusion_probability))

    # All records are equal, so their contributions add up.
    shift = abs(inner.value_in_world[FIRST])
    signs = np.sign(inner.value_in_world)
    sizes = tuple((shift * numbers).tolist())
    return RandomlySizedValue(inner.noise, sizes, tuple(masses.tolist()), tuple(signs.tolist()))
