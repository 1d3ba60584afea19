"""The statements of Lowy and Razaviyayn (2023)."""

from scripts.coverage.lowy_equations import EQUATIONS
from scripts.coverage.statement import Paper, Statement

DIGITS = "odd against even digits: error by ε, mini-batch and local SGD"
COSTS = "linear regression: error by ε, mini-batch and local SGD"
FIGURES = [
    Statement(number=f"Figure {number}", says=says)
    for number, says in ((3, DIGITS), (6, DIGITS), (4, COSTS), (7, COSTS), (8, COSTS))
]
"""The figures of results, but for Figure 5."""

PAPER = Paper(
    key="lowy2023",
    word="Lowy",
    statements=(
        # Main theorems ------------------------------------------------------------------------------------------
        Statement(
            number="Theorem 2.1, informal", says="Algorithm 1, smooth losses, like clients: noise, rounds, (4), (5)"
        ),
        Statement(
            number="Theorem 2.1, complete",
            says="the same for unlike clients and random participation",
            theorems=("epsilond.federated-sgd-excess-risk",),
            experiments=("unlike-clients",),
        ),
        Statement(number="Theorem 2.2, informal", says="losses that are not smooth, by their envelope: (6), (7)"),
        Statement(
            number="Theorem 2.2, complete",
            says="the same for unlike clients and random participation",
            theorems=("epsilond.federated-sgd-excess-risk",),
        ),
        Statement(number="Theorem 2.3, informal", says="one accelerated pass over unlike clients: (8), (9)"),
        Statement(
            number="Theorem 2.3, complete",
            says="any batch size, the best one, and how unlike clients may be",
            experiments=("unlike-clients",),
        ),
        Statement(number="Theorem 2.4, informal", says="empirical risk, losses that are not smooth: (10), (11)"),
        Statement(number="Theorem 2.4, complete", says="the same for unlike clients: (34) to (36)"),
        Statement(number="Theorem 3.1", says="no local method does better: lower bounds of the population risk"),
        Statement(number="Theorem 4.1", says="Algorithm 1 with a shuffler: noise, rounds, (46), (47)"),
        Statement(number="Theorem E.1, informal", says="empirical risk, smooth losses: (28), (29)"),
        Statement(
            number="Theorem E.1, complete",
            says="the same for unlike clients: (30) to (33)",
            experiments=("unlike-clients",),
        ),
        Statement(number="Theorem F.1, sequential", says="from local to central privacy, rounds one after another"),
        Statement(
            number="Theorem F.1, compositional", says="the same, rounds composed", theorems=("lowy.f.1.compositional",)
        ),
        Statement(number="Theorem F.2", says="a round shuffled: (39) to (41)"),
        Statement(number="Theorem F.3", says="lower bounds, central, population risk"),
        Statement(number="Theorem F.4", says="lower bounds, local, empirical risk"),
        Statement(number="Theorem F.5", says="lower bounds, central, empirical risk"),
        Statement(number="Corollary F.1", says="rounds of shuffled reports composed"),
        # Lemmas -------------------------------------------------------------------------------------------------
        Statement(number="Lemma E.1", says="stable methods generalise"),
        Statement(number="Lemma E.2", says="how stable noisy SGD is"),
        Statement(number="Lemma E.3", says="a gradient step contracts"),
        Statement(
            number="Lemma E.4",
            says="the empirical risk of Algorithm 1, convex and strongly convex",
            theorems=("lowy.lemma-e.9",),
        ),
        Statement(number="Lemma E.5", says="the variance of a round's gradient"),
        Statement(number="Lemma E.6", says="the variance of a subset's mean, exact and bounded"),
        Statement(number="Lemma E.7", says="projection onto a convex set contracts"),
        Statement(number="Lemma E.8", says="gradients of smooth convex losses are co-coercive, in two inequalities"),
        Statement(number="Lemma E.9", says="a recursion, solved with weights"),
        Statement(number="Lemma E.10", says="the envelope of a loss"),
        Statement(number="Lemma E.11", says="accelerated steps, convex"),
        Statement(number="Lemma E.12", says="accelerated steps in stages, strongly convex"),
        Statement(
            number="Lemma F.1",
            says="two (ε, 0)-indistinguishable reports as randomized response between two other reports",
        ),
        Statement(number="Lemma F.2", says="privacy of groups"),
        Statement(number="Lemma F.3", says="amplification by a privacy blanket"),
        Statement(
            number="Lemma F.4",
            says="from deletion to replacement, and to a report with δ = 0",
            theorems=("lowy.lemma-f.5",),
        ),
        Statement(number="Lemma F.5", says="a step in the proof of Theorem F.2"),
        Statement(number="Lemma F.6", says="from one distribution to one near it"),
        Statement(number="Lemma F.7", says="privacy of a mixture"),
        # Assumptions, definitions, remarks, algorithms ------------------------------------------------------------
        Statement(
            number="Assumption 1",
            says="losses are Lipschitz, and convex or strongly convex",
            used="conditions of the theorems on Algorithms 1 and 2, with the inputs `lipschitz` and `strong_convexity`",
        ),
        Statement(
            number="Assumption 2",
            says="the variance of a record's gradient is bounded",
            used="the input `gradient_std` of the risk bounds",
        ),
        Statement(
            number="Assumption 3",
            says="a random number of clients takes part in each round",
            used="the means of 1/M_r and of its square, which the risk bounds take for random participation",
        ),
        Statement(
            number="Assumption 4",
            says="bounds on how unlike the clients are",
            used="the input `heterogeneity` of the risk bounds",
        ),
        Statement(
            number="Definition 1",
            says="(ε, δ)-differential privacy",
            theorems=("asoodeh.section-2",),
            used="every δ of a guarantee is this one, the divergence E_ε of the two laws, and every ε its inverse",
        ),
        Statement(
            number="Definition 2",
            says="privacy of every record of a client against all that its client sends",
            theorems=("lowy.appendix-d.1", "lowy.lemma-d.2"),
            used="guarantees whose `definition` is `local`, with `unit` `record` and `relation` `replace-one`",
        ),
        Statement(
            number="Definition 3",
            says="privacy against a server behind a shuffler",
            theorems=("lowy.appendix-d.1", "lowy.4.1"),
            used="guarantees whose `definition` is `shuffle`, against the observer `shuffled-server`",
        ),
        Statement(number="Definition 4", says="C-compositional methods"),
        Statement(
            number="Definition 4, one pass",
            says="methods of one pass are √R-compositional",
            theorems=("lowy.definition-4.one-pass",),
            alone=True,
        ),
        Statement(
            number="Definition 4, advanced composition",
            says="budgets from advanced composition are 1-compositional",
            theorems=("lowy.definition-4.advanced-composition",),
            alone=True,
        ),
        Statement(
            number="Definition 5",
            says="uniform stability of an algorithm",
            theorems=("lowy.lemma-e.1", "lowy.lemma-e.2"),
            used="the α of Lemmas E.1 and E.2",
        ),
        Statement(
            number="Definition 6",
            says="privacy of groups",
            theorems=("lowy.lemma-f.2",),
            used="the guarantee of Lemma F.2 for all records of a client",
        ),
        Statement(
            number="Definition 7",
            says="privacy of groups with respect to a reference distribution",
            theorems=("lowy.lemma-f.2", "lowy.lemma-f.4"),
            used="the premise of Lemma F.4, which goes from deletion to replacement",
        ),
        Statement(
            number="Remark 3.1",
            says="other learning problems with a lower bound for central privacy",
            theorems=("lowy.f.1", "lowy.f.1.compositional"),
            used="the central (ε, δ) of the shuffled algorithm by Theorem F.1, at which such a bound is evaluated",
        ),
        Statement(
            number="Remark F.1",
            says="why the upper bounds on δ in Theorem 3.1 restrict little",
            theorems=("lowy.3.1",),
            used="the conditions on δ of Theorem 3.1, where they are checked or declared",
        ),
        Statement(
            number="Remark F.2",
            says="the sequential part of Theorem F.1 follows from the proof of Theorem F.2",
            theorems=("lowy.f.1", "lowy.f.2"),
            used="the proof of `lowy.f.1`, which evaluates `lowy.f.2` once for reports that are sent in order",
        ),
        Statement(
            number="Remark 2.1",
            says="Algorithm 1 with compressed gradients; the quantiser is this project's, as the source says",
            runs=("mb-sgd",),
        ),
        Statement(
            number="Remark E.1",
            says="the effective numbers of participants, M and M′",
            theorems=("epsilond.federated-sgd-excess-risk",),
        ),
        Statement(
            number="Remark E.2",
            says="when the rate of one pass holds with some of the clients",
            theorems=("lowy.2.3",),
            alone=True,
        ),
        Statement(
            number="Algorithm 1",
            says="noisy mini-batch SGD",
            theorems=("lowy.2.1", "lowy.2.2"),
            alone=True,
            runs=("mb-sgd", "shuffled-mb-sgd"),
            functions=("epsilond.mechanisms.from_calibration",),
        ),
        Statement(
            number="Algorithm 2",
            says="noisy accelerated SGD, in stages",
            runs=("accelerated-mb-sgd", "one-pass-accelerated-mb-sgd"),
            functions=("epsilond.mechanisms.from_calibration",),
        ),
        Statement(number="Algorithm 3", says="a method with d = 2C² rounds; as printed it is not private"),
        # Rates and transformations ----------------------------------------------------------------------------------
        Statement(number="Section 3", says="the rates that it compares with, footnote 8 among them"),
        Statement(
            number="Figure 1",
            says="who trusts whom, and what the messages of a client hide",
            theorems=("lowy.appendix-d.1",),
            used="guarantees whose `definition` is `local`: they hold against the server and all other clients",
        ),
        Statement(number="Figure 2", says="the table of rates"),
        Statement(
            number="Section 2.2, gaps",
            says="how much looser (8) is than (4), and (9) than (5)",
            theorems=("lowy.figure-2",),
            alone=True,
        ),
        Statement(
            number="Section 3, gap",
            says="how far the bounds for clients that differ are from the lower bounds, κ^{3/2} if strongly convex",
            theorems=("lowy.figure-2",),
            alone=True,
        ),
        Statement(
            number="Section 3, class A",
            says="sequentially interactive or compositional algorithms; √R of one pass is of order κ^{1/4}",
            theorems=("lowy.definition-4", "lowy.definition-4.one-pass"),
            alone=True,
            used="the input `compositionality` of the lower bounds",
        ),
        Statement(
            number="Footnote 7",
            says="sharper accounting than advanced composition saves a logarithm of noise",
            theorems=("epsilond.mini-batch-sgd-noise",),
            alone=True,
            used="the noise that the calibrator `mb-sgd` certifies, next to that of Theorem 2.1",
        ),
        Statement(
            number="Footnote 10",
            says="an earlier bound is looser than (10) by a logarithm",
            absent="the footnote gives neither that bound nor its logarithm, so there is nothing to evaluate",
        ),
        Statement(
            number="Footnote 13",
            says="few clients: lower bounds for central privacy need no ε₀^r ≤ 1/n",
            theorems=("lowy.f.3", "lowy.f.5"),
            alone=True,
        ),
        Statement(
            number="Footnote 14",
            says="the lower bound for central privacy, strongly convex losses",
            theorems=("lowy.f.3",),
            alone=True,
        ),
        Statement(
            number="Footnote 16",
            says="why Theorem 3.1 needs many clients",
            theorems=("lowy.3.1", "lowy.f.2"),
            alone=True,
        ),
        Statement(
            number="Footnote 12",
            says="the start has risk L·D at most",
            theorems=("epsilond.excess-risk-of-the-start",),
            alone=True,
        ),
        Statement(
            number="Speed-up",
            says="the factor, up to constants, by which Theorem 2.4 needs fewer rounds than the method before it",
            theorems=("lowy.2.4",),
            alone=True,
        ),
        Statement(number="Appendix A", says="rates of earlier methods, compared with Theorem 2.4"),
        Statement(number="Appendix B", says="clients of different weights"),
        Statement(
            number="Appendix C",
            says="noiseless mini-batch SGD as an example of randomizers, which is not private",
            runs=("mb-sgd",),
            used="the messages that a guarantee with `definition` `local` covers; without noise no ε is finite",
        ),
        Statement(number="Appendix D.1", says="local privacy implies central and shuffled privacy"),
        Statement(number="Appendix D.2", says="from records to clients"),
        Statement(
            number="Appendix E.1",
            says="averages over clients and participants: Φ, Σ, Υ, ψ, Ψ, ξ, Ξ",
            theorems=("lowy.2.1",),
        ),
        Statement(
            number="Appendix F.1",
            says="algorithms accounted for by advanced composition are 1-compositional",
            theorems=("lowy.definition-4.advanced-composition",),
            alone=True,
        ),
        Statement(number="Appendix F.2", says="the example of a method that is not compositional"),
        Statement(
            number="Appendix F.4",
            says="class B: algorithms that treat all clients alike",
            theorems=("lowy.f.4",),
            alone=True,
            used="the declared condition `symmetric` of Theorem F.4",
        ),
        Statement(
            number="Appendix G, one report",
            says="the noise of one report, and how it is amplified",
            theorems=("lowy.4.1", "epsilond.shuffled-sgd-noise"),
            alone=True,
        ),
        Statement(number="Appendix G.1", says="one target for records and clients at once"),
        # Experiments ------------------------------------------------------------------------------------------------
        Statement(
            number="Appendix H, noise", says="the noise of the experiments", theorems=("lowy.appendix-h",), alone=True
        ),
        Statement(
            number="Appendix H, batch size",
            says="the batch size of the experiments",
            theorems=("lowy.appendix-h",),
            alone=True,
        ),
        Statement(
            number="Appendix H, metric",
            says="the relative root of the mean square error",
            theorems=("lowy.appendix-h.metric",),
            alone=True,
        ),
        Statement(
            number="Appendix H, sizes",
            says="how the insurance records are split",
            theorems=("lowy.appendix-h.sizes",),
            alone=True,
        ),
        Statement(
            number="Appendix H, heterogeneity",
            says="v*² at the minimiser by Newton's method; 0.17 for silos of two digits each",
            theorems=("lowy.remark-e.1",),
            alone=True,
            functions=("epsilond.simulators.silos.heterogeneity.heterogeneity_at_minimiser",),
        ),
        Statement(
            number="Appendix H, settings",
            says="records, test share, grids of step sizes, clipping and trials",
            theorems=("lowy.appendix-h.settings",),
            alone=True,
            experiments=("lowy-mnist", "lowy-insurance"),
        ),
        Statement(
            number="Multi-stage schedule",
            says="the stages of Algorithm 2 in the proof of Theorem E.1",
            theorems=("lowy.algorithm-2",),
            alone=True,
        ),
        *FIGURES,
        Statement(
            number="Figure 5",
            says="odd against even digits, identically distributed silos",
        ),
        # Equations ----------------------------------------------------------------------------------------------
        *EQUATIONS,
    ),
)
