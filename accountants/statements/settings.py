"""The statements of one guarantee: protected unit, adversary, trusted parties, and the secrecy of batches.

Each statement depends only on the setting, on the spec's random draws, on the declared conditions, and on who adds the
noise if that is known. A spec does not say who adds its noise, so an account of a bare spec states a condition instead.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import DrawScheme, Observer, ProtectedUnit, Relation, Unit, WindowedUnit, base_unit
from epsilond.accountants.statements.statement import Statement
from epsilond.accountants.statements.windows import restate_for_window
from epsilond.accountants.structure import FRESH_DRAW, POSSIBLE, SECRET_DRAW, Definition, own_level, sees_clients_drawn
from epsilond.accountants.structure.random_draws import Draw
from epsilond.accountants.theorem import Condition

UNITS: Mapping[Unit, str] = {"record": "one record", "client": "all data of one client"}
RELATIONS: Mapping[Relation, str] = {
    "replace-one": "replace-one (one {unit} is replaced by any other)",
    "add-or-remove-one": "add-or-remove-one (one {unit} is present or absent)",
    "zero-out-one": "zero-out-one (the contribution of one {unit} counts as zero)",
}
OBSERVERS: Mapping[Observer, str] = {
    "server": "the server, which sees every client's messages by name",
    "shuffled-server": "the server, which sees every message but not who sent it",
    "released-models": "anyone who sees the model after every round",
    "final-model": "anyone who sees only the last model",
    "other-clients": "all other clients together, which see every model that they are sent",
}
TRUSTED: Mapping[Definition, str] = {
    "local": "only the client itself, which adds the noise before it sends",
    "shuffle": "a shuffler, which mixes the messages of a round and drops their senders",
    "central": "the server, which receives what the clients send",
    "joint": "the server, which receives what the clients send",
}
NOISE_ADDED_BEFORE: Mapping[Observer, str] = {
    "server": "each client adds this noise before it sends",
    "shuffled-server": "each client adds this noise before it sends",
    "released-models": "this noise is added before a model is released",
    "final-model": "this noise is added before the last model is released",
    "other-clients": "this noise is added before a model is sent to the clients",
}
"""Assumption of an account of a bare spec about its noise, for each adversary."""
RUN_BEFORE: Mapping[Observer, str] = {
    "server": "each client runs the mechanism before it sends",
    "shuffled-server": "each client runs the mechanism before it sends",
    "released-models": "the mechanism is run before a result is released",
    "final-model": "the mechanism is run before the last result is released",
    "other-clients": "the mechanism is run before a result is sent to the clients",
}
"""The same for a mechanism of which no noise is known."""
SAMPLINGS: Mapping[DrawScheme, str] = {
    "poisson": "each {unit} is drawn independently",
    "truncated-poisson": "each {unit} is drawn independently, and of too many a uniform subset is kept",
    "without-replacement": "a fixed number of {unit}s is drawn without replacement",
    "with-replacement": "a fixed number of {unit}s is drawn with replacement",
    "full": "",
    "shuffled-epochs": "every epoch cuts a random order of all {unit}s into batches",
    "random-allocation": "each {unit} is in a random set of the batches of an epoch",
}
SHUFFLER_ID = "trusted-shuffler"
"""Id of the condition of every theorem that relies on a shuffler."""
NO_DRAW = "Batches: the bound uses no random draw."
HIDDEN_MEMBERS = "Their members must stay secret: the bound uses amplification."
SEEN_MEMBERS = "The adversary sees their members, so the bound uses no amplification."
ORDER_GAP = (
    "The order may be public: no amplification by it is proved for batches that may depend on earlier outputs. The "
    "lower bound is that of an attack, and the truth may be anywhere between the two bounds. A Poisson or "
    "random-allocation sampler has a proved amplification."
)
REPLACED_GAP = (
    "The lower bound is that of opposite contributions, and the truth may be anywhere between the two bounds. "
    "A request for zero-out-one has close bounds."
)
"""Statement on the bounds of a random allocation under replace-one."""
_PUBLIC_IDS = {FRESH_DRAW.id, "allocation-independent-of-data"}
_SECRET_IDS = {SECRET_DRAW.id, "secret-allocation"}
"""Ids of the conditions of bounds for which the members of batches may be public, or must be secret."""
SECRETS: Mapping[str, str] = {
    "random-contributions": (
        "Contributions: the size of each is drawn at random in every release. The draws must stay secret: the bound "
        "uses amplification."
    ),
    "only-the-best-is-seen": (
        "Runs: their number is random, and only the best output is released. The number and all other outputs must "
        "stay secret."
    ),
}
"""Statement on draws other than those of batches, by the id of the condition on their secrecy."""
PUBLIC_MEMBERS = "Their members may be public, because the bound uses no amplification."


def noise_condition(observer: Observer, *, adds_noise: bool = True) -> Condition:
    """Return the condition that the noise of a run is added before the adversary sees anything.

    The specification of a run does not say who adds its noise, so the caller declares this condition.

    Args:
        observer: the adversary.
        adds_noise: whether the spec says which noise is added. Otherwise the condition is about the whole mechanism.

    Returns:
        The condition, which the library does not check.
    """
    assumption = NOISE_ADDED_BEFORE[observer] if adds_noise else RUN_BEFORE[observer]
    return Condition("noise-before-sight", f"{assumption}, so that the adversary sees nothing without it")


def state_guarantee(
    *,
    definition: Definition | None,
    observer: Observer,
    unit: ProtectedUnit,
    relation: Relation,
    draws: Sequence[Draw] = (),
    declared: Collection[Condition] = (),
) -> tuple[Statement, ...]:
    """State the protected unit, its neighbours, the adversary, the trusted parties, and which batches must stay secret.

    Args:
        definition: the trust model. None if only a spec is given, that is, a description of a run that does not say who
            adds the noise.
        observer: the adversary.
        unit: the protected unit: a record or a client, or one window of either.
        relation: the neighbouring relation.
        draws: the random draws of batches in the run, outermost first.
        declared: conditions of the guarantee; they say whether a draw may be public.

    Returns:
        The statements in the order above, at least one of them on the draws. For a window there is one more.

    Raises:
        InvalidInput: the trust model has no guarantee against this observer, for example because it trusts it.
    """
    if definition is not None and observer not in POSSIBLE[definition]:
        allowed = ", ".join(POSSIBLE[definition])
        raise InvalidInput.at("/observer", f"a {definition} guarantee cannot be against this observer", allowed=allowed)

    # Bounds that hold for public batches declare a condition of `_PUBLIC_IDS`. One bound with secret batches decides.
    ids = {condition.id for condition in declared}
    may_be_public = bool(_PUBLIC_IDS & ids) and not _SECRET_IDS & ids
    secrets = tuple(text for name, text in SECRETS.items() if name in ids)
    is_shuffled = SHUFFLER_ID in ids
    base = base_unit(unit)
    statements = _statements(definition, observer, base, relation, tuple(draws), secrets, may_be_public, is_shuffled)
    return restate_for_window(statements, relation, unit) if isinstance(unit, WindowedUnit) else statements


def join_statements(statements: Sequence[Statement]) -> str:
    """Return the statements as one text, in their order."""
    return " ".join(statement.text for statement in statements)


@functools.lru_cache(maxsize=512)
def _statements(
    definition: Definition | None,
    observer: Observer,
    unit: Unit,
    relation: Relation,
    draws: tuple[Draw, ...],
    secrets: tuple[str, ...],
    public: bool,
    shuffled: bool,
) -> tuple[Statement, ...]:
    """Return the statements of a guarantee for a record or a client, without windows of time.

    Args:
        definition: the trust model; None if it is not known who adds the noise.
        observer: the adversary.
        unit: the protected unit, a record or a client.
        relation: the neighbouring relation.
        draws: the random draws of batches in the run, outermost first.
        secrets: texts on other random draws that must stay secret.
        public: whether the members of batches may be public.
        shuffled: whether the guarantee relies on a trusted shuffler.

    Returns:
        Statements on the unit, the neighbours, the adversary, the trust, and the random draws, in this order.
    """
    neighbours = RELATIONS[relation].format(unit=unit)
    of_draws = (*_sampling(observer, unit, draws, secrets, public), *_replaced_gap(relation, draws, public))
    return (
        Statement(about="protects", text=f"Protects: {UNITS[unit]}."),
        Statement(about="neighbours", text=f"Neighbours: {neighbours}."),
        Statement(about="against", text=f"Against: {OBSERVERS[observer]}."),
        *_trust(definition, observer, shuffled),
        *of_draws,
    )


def _replaced_gap(relation: Relation, draws: tuple[Draw, ...], public: bool) -> Iterator[Statement]:
    """State that the two bounds on ε may be far apart for a random allocation under replace-one.

    If the batches may be public, the bound uses no amplification, and nothing is stated.

    Args:
        relation: the neighbouring relation.
        draws: the random draws of batches in the run.
        public: whether the members of batches may be public.

    Yields:
        At most one statement.
    """
    is_allocated = any(draw.sampling == "random-allocation" for draw in draws)
    if relation == "replace-one" and is_allocated and not public:
        yield Statement(about="sampling", text=REPLACED_GAP)


def _trust(definition: Definition | None, observer: Observer, shuffled: bool) -> Iterator[Statement]:
    """State the trusted parties, or the condition on the noise if it is not known who adds it.

    Args:
        definition: the trust model; None if it is not known who adds the noise.
        observer: the adversary.
        shuffled: whether the guarantee relies on a trusted shuffler.

    Yields:
        One statement on the trusted parties of the model. Without a model, one on the shuffler if there is one, and
        then the condition on the noise.
    """
    if definition is not None:
        yield Statement(about="trusted", text=f"Trusted: {TRUSTED[definition]}.")
        return
    if shuffled:
        yield Statement(about="trusted", text=f"Trusted: {TRUSTED['shuffle']}.")
    yield Statement(about="condition", text=f"Condition: {NOISE_ADDED_BEFORE[observer]}.")


def _sampling(
    observer: Observer, unit: Unit, draws: tuple[Draw, ...], secrets: tuple[str, ...], public: bool
) -> Iterator[Statement]:
    """State each random draw, and whether its outcome must stay secret.

    Args:
        observer: the adversary.
        unit: the protected unit, a record or a client.
        draws: the draws of batches in the run, outermost first. A full batch is not random.
        secrets: texts on other random draws that must stay secret.
        public: whether the members of batches may be public.

    Yields:
        One statement for each random draw of batches, and then one for each text of `secrets`. If there are none, one
        statement that the bound uses no random draw.
    """
    random_draws = [draw for draw in draws if draw.sampling != "full"]
    for draw in random_draws:
        sampling = SAMPLINGS[draw.sampling].format(unit=draw.level.removesuffix("s"))
        yield Statement(about="sampling", text=f"Batches: {sampling}. {_secrecy(draw, observer, unit, public)}")
    for secret in secrets:
        yield Statement(about="sampling", text=secret)
    if not (random_draws or secrets):
        yield Statement(about="sampling", text=NO_DRAW)


def _secrecy(draw: Draw, observer: Observer, unit: Unit, public: bool) -> str:
    """Return the statement on whether the members of a batch must stay secret.

    They must if the bound uses amplification by sampling, that is, if

    - records are drawn and a record is protected, or clients are drawn and a client is protected;
    - or the reports of the draw are shuffled;
    - or records are drawn, a client is protected, and the number of its records is bounded.

    If the adversary sees which clients are drawn, a draw of clients does not amplify.

    Args:
        draw: the random draw of the batch.
        observer: the adversary, who may see which clients are drawn.
        unit: the protected unit, a record or a client.
        public: whether the bound also holds if the members are known to the adversary.

    Returns:
        One or more sentences.
    """
    if draw.sampling == "shuffled-epochs":
        return ORDER_GAP
    amplifies = draw.level == own_level(unit) or draw.shuffled or draw.protects_client
    if not amplifies:
        return PUBLIC_MEMBERS
    if draw.level == "clients" and sees_clients_drawn(observer, draw.sampling):
        return SEEN_MEMBERS
    return PUBLIC_MEMBERS if public else HIDDEN_MEMBERS
