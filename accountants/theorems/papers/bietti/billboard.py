"""Joint differential privacy of PPSGD: the billboard lemma, and the effect of a fixed number of participants.

Joint differential privacy bounds the dependence of all other clients' outputs on the data of client i. The shared
models are the billboard. Every other client's personal part is a function of the billboard, its own data and its own
randomness.

If the participants are drawn independently, the participation of the others is independent of that of i. If their
number Q is fixed, the others count themselves and know whether i took part (E-B8). A client of k rounds then has
k_rel √k/z-Gaussian differential privacy, and the observer knows k.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.formula import formula
from epsilond.accountants.quantities import (
    RELATION,
    AtMost,
    Clients,
    GivenLogDelta,
    NoiseMultiplier,
    ParticipantFields,
    Quantity,
    Relation,
    Rounds,
)
from epsilond.accountants.structure import sensitivity_factor
from epsilond.accountants.theorem import Condition, Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.papers.bietti.errata import FIXED_NUMBER, NOISE_OF_THE_AVERAGE
from epsilond.accountants.theorems.papers.bietti.noise import CurvePoint, figures_at

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee


PUBLIC_BILLBOARD = Condition(
    "own-parts-stay-home",
    (
        "Each client computes its own part of the model from the shared models and its own data. This part stays with "
        "the client"
    ),
)
BILLBOARD = Theorem(
    id="hsu-2014.billboard-lemma",
    title="The billboard lemma",
    statement=(
        "Let the published output be (ε, δ)-private in one client's data. Let every client's output be a function of "
        "the published output and of the client's own data. Then all outputs except that client's own are (ε, "
        "δ)-private in its data"
    ),
    source=Source("hsu2014private", "billboard lemma"),
    status=Status.PROVED,
    conditions=(PUBLIC_BILLBOARD,),
)


def to_other_clients(shared: Guarantee) -> Guarantee:
    """Return the joint guarantee of a client against all other clients together (billboard lemma).

    The other clients compute their outputs from the shared models and from data that do not depend on this client. By
    post-processing, the privacy curve of the shared models is valid for all these outputs together.

    Args:
        shared: guarantee of the shared models, for a client against the other clients.

    Returns:
        The guarantee of the outputs of all other clients, with the same curve and one more declared condition.

    Raises:
        InvalidInput: `shared` has another unit than `client`, or another observer than `other-clients`.
    """
    protects_client = shared.setting.unit == "client"
    if not protects_client or shared.setting.observer != "other-clients":
        raise InvalidInput.at(
            "/observer", "joint privacy is that of a client against the others", allowed="other-clients"
        )
    declared = tuple(dict.fromkeys((*shared.declared, PUBLIC_BILLBOARD)))
    return replace(shared, derivation=BILLBOARD.because(shared.derivation), declared=declared)


ROUNDS_OF_CLIENT = Quantity(symbol="k", ge=0, le=1e15, description="rounds that the client took part in")


@formula(
    given="Rounds with Q of N clients each, and where to read the curve. Absent k is that expected.",
    checks=(AtMost("rounds_of_client", "rounds", "exceeds the number of rounds"),),
)
def coalition(
    *,
    federation: ParticipantFields,
    rounds: Rounds,
    noise_multiplier: NoiseMultiplier,
    rounds_of_client: Annotated[int | None, ROUNDS_OF_CLIENT] = None,
    point: CurvePoint,
    relation: Annotated[Relation, RELATION] = "replace-one",
) -> Outputs:
    """Compute the privacy of a client that takes part in k rounds, against all other clients together.

    The parameter of Gaussian differential privacy is μ = s √k/z, where s is 2 for replace-one and 1 for the other
    relations. The number of participants of a round is fixed, so the other clients know whether this one took part.
    Therefore the random draw of clients does not amplify privacy.

    Args:
        federation: number N of clients and number Q of participants of a round.
        rounds: number of rounds of the run.
        noise_multiplier: noise multiplier z, the standard deviation of the noise over the clipping norm.
        rounds_of_client: number k of rounds of the client; None for the expected number, rounds · Q/N.
        point: ε, δ or both, at which the privacy curve is evaluated.
        relation: neighbouring relation of the clients.

    Returns:
        `rounds_of_client`: k, which need not be an integer.
        `gaussian_dp_mu`: μ.
        δ at the given ε, and ε at the given δ; each is absent if its argument is.
    """
    expected = rounds * federation.participants / federation.clients
    participated = expected if rounds_of_client is None else float(rounds_of_client)
    mu = sensitivity_factor(relation) * math.sqrt(participated) / noise_multiplier
    return {
        "rounds_of_client": participated,
        "gaussian_dp_mu": mu,
        **figures_at(mu, epsilon=point.epsilon, log_delta=point.log_delta),
    }


COALITION = Theorem(
    id="epsilond.coalition-participation",
    title="A fixed number of participants gives no amplification against the other clients",
    statement=(
        "If a fixed number Q of N clients is drawn in a round, the other clients together know whether a client was "
        "drawn. A client of k rounds is exactly k_rel√k/z-Gaussian differentially private against them, without any "
        "amplification. Here z is the noise multiplier. The factor k_rel is 2 for a client that is replaced, and 1 for "
        "one that is zeroed"
    ),
    source=Source("epsilond", "accountants/theorems/papers/bietti/billboard.py"),
    status=Status.PROVED,
    formula=coalition,
    examples=({"clients": 500, "participants": 10, "rounds": 2000, "noise_multiplier": 1.0, "delta": 1e-4},),
)


# The experiments ----------------------------------------------------------------------------------------------------
@formula(given="A run of Section 6 with all clients in every round: its noise multiplier σ, and δ.")
def billboard_experiment(
    *,
    clients: Clients,
    rounds: Rounds,
    noise_multiplier: NoiseMultiplier,
    log_delta: GivenLogDelta,
    relation: Annotated[Relation, RELATION] = "replace-one",
    reading: Reading = "printed",
) -> Outputs:
    """Compute ε at δ of an experiment of Bietti et al. (their Section 6) with all clients in every round.

    The server averages messages of norm at most C over N clients, and adds noise to the mean.

    Args:
        clients: number N of clients.
        rounds: number of rounds.
        noise_multiplier: noise multiplier σ of the experiments.
        log_delta: natural logarithm of δ.
        relation: neighbouring relation of the clients. A client changes the sum by 2C under `replace-one`, and by C
            under the other relations.
        reading: `printed` for the noise σC of the paper, `corrected` for the noise σC/N in the code of the experiments.

    Returns:
        `gaussian_dp_mu`: the parameter μ of Gaussian differential privacy of the run.
        `epsilon`: ε at δ, rounded up.
    """
    # A message contributes C/N to the mean, in units of which the noise is σN as printed, and σ in the code.
    noise_over_code = clients if reading == "printed" else 1.0
    noise_over_message = noise_multiplier * noise_over_code
    mu = sensitivity_factor(relation) * math.sqrt(rounds) / noise_over_message
    return {"gaussian_dp_mu": mu, **figures_at(mu, epsilon=None, log_delta=log_delta)}


SECTION_6 = Theorem(
    id="bietti.section-6",
    title="The noise of the experiments",
    statement=(
        "PPSGD adds noise of variance σ²C² in every round, in which all clients or a fixed number take part. Its runs "
        "have the ε that Section 6 reports"
    ),
    source=Source("bietti2022", "Section 6 and Appendix A"),
    status=Status.REFUTED,
    errata=(FIXED_NUMBER, NOISE_OF_THE_AVERAGE),
    formula=billboard_experiment,
    examples=({"clients": 1000, "rounds": 300, "noise_multiplier": 10.0, "delta": 1e-4},),
)
THEOREMS: tuple[Theorem, ...] = (BILLBOARD, COALITION, SECTION_6)
