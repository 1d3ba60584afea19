"""Outputs that the statements on a run of Lowy and Razaviyayn have in common: its noise, and averages over clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import client_outputs

if TYPE_CHECKING:
    from epsilond.accountants.json_types import Fields
    from epsilond.accountants.theorem import Reading
    from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import Aggregates
    from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import UnlikeClientsInputs


def noise_outputs(inputs: UnlikeClientsInputs, rounds: int, reading: Reading) -> Fields:
    """Return the noise of the clients at R rounds, and the limits on batch size and ε in its privacy proof.

    Args:
        inputs: the run.
        rounds: number R of rounds.
        reading: version of the formulas. `printed` has those of the paper with its known errors, `corrected` those
            without. It also decides which Lipschitz constant scales the noise.

    Returns:
        `noise_std`, `noise_multiplier`, `sensitivity`, `minimal_batch_size`: the largest value of all groups.
        `epsilon_limit`: the smallest limit of all groups.
        `groups`: the values of each group, if the request has `client_groups`.
    """
    # The values of each group of equal clients.
    group_outputs: list[Fields] = []
    for group, std in zip(inputs.kinds, inputs.noise_stds(rounds, reading), strict=True):
        sizes = {
            "clients": group.clients,
            "samples_per_client": group.samples_per_client,
            "batch_size": group.batch_size,
            "lipschitz": group.lipschitz,
        }
        noise = client_outputs(group, std, rounds=rounds, reading=inputs.variant)
        group_outputs.append({**sizes, **noise})

    # The values of the whole run are those of the group with the strictest requirement.
    outputs: Fields = {}
    for name in ("noise_std", "noise_multiplier", "sensitivity", "minimal_batch_size"):
        outputs[name] = max(group[name] for group in group_outputs)
    outputs["epsilon_limit"] = min(group["epsilon_limit"] for group in group_outputs)
    if inputs.client_groups is not None:
        outputs["groups"] = group_outputs
    return outputs


def aggregate_outputs(inputs: UnlikeClientsInputs, aggregates: Aggregates, reading: Reading) -> dict[str, float]:
    """Return the averages over clients in Appendix E.1 of Lowy and Razaviyayn, as the fields of a response.

    The clients differ in their scaled noise variance ξ, and the number of participants of a round is random. L is the
    largest Lipschitz constant.

    Args:
        inputs: the run.
        aggregates: averages of ξ over the clients, by the same version of the formulas.
        reading: version of the formulas: `printed` for those of the paper, `corrected` for those without its errors.

    Returns:
        `effective_participants`, `mean_participants`, `rms_participants`: averages M~, M, M' of the participants.
        `xi`, `average_xi`, `largest_xi`: averages Ξ~ and Ξ of ξ over the clients, and the largest ξ.
        `psi`, `average_psi`: L² Ξ~ and L² Ξ.
    """
    moments = inputs.federation_in(reading).participation
    squared = inputs.largest_lipschitz * inputs.largest_lipschitz
    return {
        "effective_participants": aggregates.participants,
        "mean_participants": moments.mean,
        "rms_participants": moments.rms,
        "xi": aggregates.xi,
        "average_xi": aggregates.average_xi,
        "largest_xi": aggregates.largest_xi,
        "psi": squared * aggregates.xi,
        "average_psi": squared * aggregates.average_xi,
    }
