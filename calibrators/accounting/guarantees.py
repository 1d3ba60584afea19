"""The guarantee of a run in the answer to an account: its subject in words, and ε and δ at a requested point."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from epsilond.accountants.guarantee import PrivacyCurve, Tightness
from epsilond.accountants.quantities import Observer, ProtectedUnit, Relation
from epsilond.accountants.statements.statement import Statement
from epsilond.calibrators.answer import Ends, ReadFromCurve, Served
from epsilond.calibrators.serving.json_form import UNSERVED


@dataclass(frozen=True, kw_only=True)
class StatedGuarantee(ReadFromCurve):
    """The subject of a privacy guarantee, and its `curve`: δ as a function of ε, which is not served as JSON."""

    in_words: Annotated[
        str,
        Served(
            "the guarantee in plain sentences: protected unit, adversary, conditions, and batches that must stay secret"
        ),
    ]
    statements: Annotated[tuple[Statement, ...], Served("the sentences of in_words, each with a word for its subject")]
    unit: ProtectedUnit
    relation: Relation
    observer: Observer
    tight: Annotated[
        Tightness,
        Served(
            "evidence for the lower bounds. proved: the upper bounds are attained. witnessed: two "
            "neighbouring data sets attain the lower bounds. unknown: no such data sets are known, and the "
            "lower bounds are 0"
        ),
    ]
    curve: PrivacyCurve = field(compare=False, repr=False, metadata=UNSERVED)


@dataclass(frozen=True, kw_only=True)
class AccountGuarantee(StatedGuarantee):
    """The guarantee of a run, with ε and δ at the first requested point."""

    epsilon: Ends
    delta: Ends
    log10_delta: Ends
