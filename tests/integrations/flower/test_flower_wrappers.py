"""What Flower's own wrappers and mods do, as it is installed, and what is warned of."""

import math

import numpy as np
import pytest
from flwr.app import Message, RecordDict
from flwr.clientapp.mod import LocalDpMod
from flwr.serverapp.strategy import (
    DifferentialPrivacyServerSideAdaptiveClipping,
    DifferentialPrivacyServerSideFixedClipping,
    FedAdam,
)

import epsilond
from epsilond.integrations.flower import (
    EpsilondAccountant,
    FlowerPrivacyWarning,
    adaptive_noise_multiplier,
    certified_local_epsilon,
    check_local_dp,
    check_strategy,
    local_statement,
    weighted_noise_multiplier,
)
from tests.integrations.flower.flower_rounds import (
    DELTA,
    aggregate,
    arrays,
    config,
    dp_fedavg,
    fedavg,
    gaussian_delta,
    reply,
)

UNWEIGHED, AFTERWARDS, COUNTED, BACKWARDS = "has no accountant", "changes the mean", "count of clipped", "away from"


@pytest.mark.parametrize("weights", [[1000, 10, 10, 10], [5, 5, 5, 5], [1, 2, 3, 4]])
def test_flowers_noise_is_for_equal_weights_and_too_small_by_the_share_of_the_heaviest(weights):
    """Without its noise the released mean shows how far it moves when the heaviest client's update vanishes."""
    heaviest, others = int(np.argmax(weights)), [[0.0, 1e-9]] * 4
    strategy = DifferentialPrivacyServerSideFixedClipping(fedavg(), 0.0, 1.0, 4)
    full = [list(each) for each in others]
    full[heaviest] = [5.0, 0.0]
    moved = np.linalg.norm(aggregate(strategy, full, weights) - aggregate(strategy, others, weights))
    assert moved == pytest.approx(max(weights) / sum(weights), rel=1e-6)
    covered = 1.0 / 4.0  # clipping norm over the number of clients: what the noise is scaled by
    assert weighted_noise_multiplier(1.0, weights) == pytest.approx(covered / moved, rel=1e-6)


def test_a_client_that_disappears_with_its_weight_moves_flowers_mean_by_up_to_twice_its_share():
    weights = [1000, 10, 10, 10]
    there, gone = (DifferentialPrivacyServerSideFixedClipping(fedavg(), 0.0, 1.0, 4) for _ in range(2))
    updates = [[5.0, 0.0], [-5.0, 0.0], [-5.0, 0.0], [-5.0, 0.0]]
    moved = aggregate(there, updates, weights) - aggregate(gone, updates[1:], weights[1:])
    assert np.linalg.norm(moved) == pytest.approx(2.0 * 1000 / 1030, rel=1e-9)


def test_with_an_accountant_flower_refuses_unequal_weights_by_itself():
    strategy = DifferentialPrivacyServerSideFixedClipping(
        fedavg(), 4.0, 1.0, 4, accountant=EpsilondAccountant(config(population=4))
    )
    with pytest.raises(ValueError, match="equal client weights"):
        aggregate(strategy, [[1.0]] * 4, [2, 1, 1, 1])
    assert strategy.accountant.num_releases == 0


def test_an_update_of_zero_ends_flowers_round_and_not_ours():
    """So that whoever sees the run stop learns that a client had nothing to say."""
    with pytest.raises(ZeroDivisionError):
        aggregate(DifferentialPrivacyServerSideFixedClipping(fedavg(), 1.0, 1.0, 2), [[0.0], [1.0]])
    assert np.isfinite(aggregate(dp_fedavg(participants=2), [[0.0], [1.0]])).all()


def test_flower_adds_noise_for_the_mean_to_what_an_optimiser_made_of_it():
    def moved(kind):
        found = []
        for first in ([5.0], [1e-9]):
            strategy = DifferentialPrivacyServerSideFixedClipping(kind(), 0.0, 0.1, 4)
            found.append(aggregate(strategy, [first, [1e-9], [1e-9], [1e-9]]))
        return float(np.linalg.norm(found[0] - found[1]))

    assert moved(fedavg) == pytest.approx(0.1 / 4.0, rel=1e-6)
    assert moved(lambda: FedAdam(fraction_evaluate=0.0, eta=1.0)) > 4.0 * 0.1 / 4.0


def test_the_adaptive_wrapper_counts_with_sensitivity_one_and_steps_away_from_its_quantile():
    strategy = DifferentialPrivacyServerSideAdaptiveClipping(fedavg(), 1.0, 20, 0.5)
    counts, norm = [], strategy.clipping_norm

    def noisy_fraction(count, total):
        counts.append(count)
        return count / total

    strategy._noisy_fraction = noisy_fraction
    aggregate(strategy, [[5.0]] * 20)
    smaller = strategy.clipping_norm
    aggregate(strategy, [[1e-3]] + [[5.0]] * 19)
    assert counts == [20, 19]
    assert smaller < norm  # everything was longer than the norm, and it shrank
    moved = math.hypot(1.0 / strategy.noise_multiplier, 1.0 / strategy.clipped_count_stddev)
    assert adaptive_noise_multiplier(strategy) == pytest.approx(1.0 / moved, rel=1e-12)
    assert adaptive_noise_multiplier(strategy) == pytest.approx(1.0 / math.sqrt(1.75), rel=1e-12)  # 0.756
    larger = DifferentialPrivacyServerSideAdaptiveClipping(fedavg(), 1.0, 100)
    assert adaptive_noise_multiplier(larger) == pytest.approx(0.985, abs=5e-4)


@pytest.mark.parametrize(
    ("strategy", "warned"),
    [
        (lambda: DifferentialPrivacyServerSideFixedClipping(fedavg(), 1.0, 1.0, 4), [UNWEIGHED]),
        (
            lambda: DifferentialPrivacyServerSideFixedClipping(
                fedavg(), 1.0, 1.0, 4, accountant=EpsilondAccountant(config())
            ),
            [],
        ),
        (
            lambda: DifferentialPrivacyServerSideFixedClipping(FedAdam(fraction_evaluate=0.0), 1.0, 1.0, 4),
            [UNWEIGHED, AFTERWARDS],
        ),
        (
            lambda: DifferentialPrivacyServerSideAdaptiveClipping(fedavg(), 1.0, 40),
            [UNWEIGHED, COUNTED, BACKWARDS],
        ),
    ],
)
def test_wrappers_are_warned_of(strategy, warned):
    with pytest.warns(FlowerPrivacyWarning):
        found = check_strategy(strategy())
    assert len(found) == len(warned) + 1
    assert all(part in told for part, told in zip([*warned, "global generator"], found, strict=True))


def test_a_strategy_without_noise_is_no_wrapper():
    with pytest.raises(epsilond.InvalidInput):
        check_strategy(fedavg())


def sent(mod):
    """The noise that the mod adds to an update of zero length, in one long array."""
    message = Message(content=RecordDict({"arrays": arrays(np.zeros(20_000))}), dst_node_id=1, message_type="train")
    found = mod(message, None, lambda asked, _: reply(asked, np.full(20_000, 1e-12)))
    return found.content["arrays"]["weights"].numpy()


def test_the_local_mod_is_certified_by_the_noise_that_it_adds():
    mod = LocalDpMod(clipping_norm=1.0, sensitivity=2.0, epsilon=1.0, delta=DELTA)
    noise = float(np.std(sent(mod)))
    formula = 2.0 * math.sqrt(2.0 * math.log(1.25 / DELTA))
    assert noise == pytest.approx(formula, rel=0.03)
    certified = certified_local_epsilon(mod)
    assert gaussian_delta(certified.upper, 2.0 / formula) == pytest.approx(DELTA, rel=1e-9)
    assert certified.upper <= 1.0


@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "true", "warned"),
    [
        (1.0, 2.0, 0.751, []),
        (10.0, 2.0, 10.39, ["at most 1 only"]),
        (50.0, 2.0, 96.43, ["at most 1 only"]),
        (1.0, 1.0, 1.610, ["twice the clipping norm"]),
    ],
)
def test_the_local_mod_is_warned_of_outside_its_formula(epsilon, sensitivity, true, warned):
    mod = LocalDpMod(1.0, sensitivity, epsilon, DELTA)
    with pytest.warns(FlowerPrivacyWarning):
        found = check_local_dp(mod)
    assert len(found) == len(warned) + 1
    assert all(part in told for part, told in zip(warned, found, strict=False))
    certified = certified_local_epsilon(mod)
    assert certified.upper == pytest.approx(true, rel=1e-3)
    assert (certified.lower > epsilon) == bool(warned)
    noise = sensitivity * math.sqrt(2.0 * math.log(1.25 / DELTA)) / epsilon
    assert gaussian_delta(certified.upper, 2.0 / noise) == pytest.approx(DELTA, rel=1e-6)


def test_a_local_mod_within_its_formula_is_declared():
    """https://github.com/flwrlabs/flower/pull/2959 adds the mod."""
    mod = LocalDpMod(clipping_norm=1.0, sensitivity=2.0, epsilon=1.0, delta=DELTA)
    statement = local_statement(mod, rounds=1)
    assert statement.status == "declared"
    assert len(statement.declared) == 4
    assert statement.epsilon == certified_local_epsilon(mod)
    noise = 2.0 * math.sqrt(2.0 * math.log(1.25 / DELTA))
    ten = local_statement(mod, rounds=10).epsilon
    assert gaussian_delta(ten.upper, 2.0 * math.sqrt(10) / noise) == pytest.approx(DELTA, rel=1e-6)
    with pytest.raises(epsilond.InvalidInput):
        local_statement(mod, rounds=0)


@pytest.mark.parametrize(("epsilon", "sensitivity", "words"), [(10.0, 2.0, "at most 1 only"), (1.0, 1.0, "twice the")])
def test_a_local_mod_that_promises_too_much_has_no_epsilon(epsilon, sensitivity, words):
    with pytest.raises(epsilond.RunDiffers, match=words):
        local_statement(LocalDpMod(1.0, sensitivity, epsilon, DELTA), rounds=1)
