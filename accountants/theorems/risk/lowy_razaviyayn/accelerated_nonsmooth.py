"""Theorem 2.4 of Lowy and Razaviyayn: accelerated SGD on the data at hand, without smoothness."""

from __future__ import annotations

from epsilond.accountants.formula import in_doubles
from epsilond.accountants.quantities import request
from epsilond.accountants.theorem import Condition, Erratum, Grade, Outputs, Reading, Source, Status, Theorem
from epsilond.accountants.theorems.papers.lowy_razaviyayn.conditions import EQUAL_SHARES
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import PRIVACY_ERRATA
from epsilond.accountants.theorems.papers.lowy_razaviyayn.run import TEN_CLIENTS, UNLIKE_CLIENTS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_prescriptions import (
    AcceleratedPrescription,
    ReusedRun,
    envelope_figures,
    speedup,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_smooth import (
    BATCH_IN_ROUNDS,
    CONDITIONS,
    UNBALANCED,
    ReusedInputs,
    common_outputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.envelope import (
    ENVELOPE_LIPSCHITZ,
    envelope_lipschitz,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.lemmas.gradient_variance import TWO_LEVELS
from epsilond.accountants.theorems.risk.lowy_razaviyayn.smooth_losses import PARTICIPANTS

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_accelerated.py"


@request
class EnvelopedInputs(ReusedInputs):
    """A Lipschitz loss. Absent: rounds are as prescribed, participants all clients, Δ is LD."""

    def run(self, reading: Reading, /) -> ReusedRun:
        """Φ̂ is at most the envelope's Lipschitz constant: 2L as printed, L in truth (E-17)."""
        std = envelope_lipschitz(lipschitz=self.largest_lipschitz, reading=reading)
        return self.run_in(reading, ReusedRun, smoothness=None, empirical_gradient_std=std)


@in_doubles
def theorem_2_4(inputs: EnvelopedInputs, reading: Reading = "printed") -> Outputs:
    """Noise, batch, rounds and envelope, and the risk as a scale: constants and logarithms are hidden.

    The informal statement gives no envelope, but the speed-up over what was known before it. Participants, Ξ and Ψ are
    named as in `lowy.2.1`, and each of `groups` has its own noise: printed for the largest L, corrected for its own.
    """
    found, run = inputs.prescription(reading), inputs.run(reading)
    outputs = common_outputs(inputs, found, reading)
    if isinstance(found, AcceleratedPrescription) and found.envelope_smoothness is not None:
        return outputs | envelope_figures(run, found.envelope_smoothness, reading)
    return outputs | {"speedup": speedup(run)}


SECOND_TERM = Erratum(
    "E-36",
    grade=Grade.REFINEMENT,
    printed="L D/√(MKR) in (34), while V² of its λ has 4L² for a gradient of the envelope",
    truth="the same in both: L, as the envelope is L-Lipschitz on the domain (E-17)",
    test=f"{_TESTS}::test_the_second_term_of_34_is_printed_without_a_factor_of_two",
)

THEOREM_2_4 = Theorem(
    id="lowy.2.4",
    title="Accelerated mini-batch SGD on the data at hand, without smoothness",
    statement=(
        "Theorem E.1 for the Moreau envelope of smoothness b = L²√M~/(D√(dΨ~)) (μM~L²/(dΨ~) if μ > 0): in R = "
        "max{L√M*/√(dΨ~), 1{MK < ñ}L²/(KdΨ~)} rounds (the first times ln(ΔμM*/(dΨ~)) if μ > 0) E F̂ − F̂* = "
        "Õ(D√(d min{Ψ/M', ψ_max/M})), or Õ((d/μ) min{Ψ/M', ψ_max/M}). M* is M' or M, by the smaller of Ψ/M' and ψ_max/M"
    ),
    source=Source("lowy2023", "Theorem 2.4"),
    status=Status.PROVED,
    constants="hidden",
    conditions=(
        *CONDITIONS,
        Condition("loss", "every record's loss is μ-strongly convex (μ may be 0) and L-Lipschitz on the domain"),
        Condition("proximal-steps", "the gradients sent are those of the records' envelopes, at points of the domain"),
        EQUAL_SHARES,
    ),
    errata=(*PRIVACY_ERRATA, ENVELOPE_LIPSCHITZ, PARTICIPANTS, BATCH_IN_ROUNDS, UNBALANCED, TWO_LEVELS, SECOND_TERM),
    inputs=EnvelopedInputs,
    formula=theorem_2_4,
    examples=(
        {**TEN_CLIENTS, "batch_size": 1000, "strong_convexity": 0.5, "initial_gap": 0.8},
        {"variant": "informal", **TEN_CLIENTS},
        {**UNLIKE_CLIENTS, "strong_convexity": 0.1},
    ),
)

THEOREMS: tuple[Theorem, ...] = (THEOREM_2_4,)
