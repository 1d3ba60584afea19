"""The 22 statements of Asoodeh et al. (2021)."""

from scripts.coverage.statement import Paper, Statement

PAPER = Paper(
    key="asoodeh2021",
    word="Asoodeh",
    statements=(
        Statement(number="Theorem 1", says="the contraction of a channel is that of its rows"),
        Statement(number="Theorem 2, schedules", says="one pass, hidden states, any schedule of steps and noise"),
        Statement(number="Theorem 2, closed form", says="the same with equal steps"),
        Statement(
            number="Theorem 2, Lipschitz losses", says="without convexity", theorems=("epsilond.projected-contraction",)
        ),
        Statement(
            number="Theorem 2, smooth losses",
            says="without convexity, smooth",
            theorems=("epsilond.projected-contraction",),
        ),
        Statement(
            number="Theorem 2, strongly convex losses",
            says="steps that contract",
            theorems=("epsilond.projected-contraction",),
        ),
        Statement(number="Lemma 1", says="the divergence of two Gaussians", theorems=("balle-wang-2018.8",)),
        Statement(number="Lemma 2", says="the contraction of Gaussian noise on a bounded set"),
        Statement(number="Corollary 1, utility", says="strongly convex losses, steps 1/(λt)"),
        Statement(number="Corollary 1, privacy", says="privacy with those steps"),
        Statement(number="(11)", says="the same, bounded", theorems=("asoodeh.corollary-1",)),
        Statement(
            number="after (11)",
            says="the simple bound δ ≤ θ_ε(2L/(√m σ))",
            theorems=("asoodeh.lemma-1",),
            partly="Lemma 1 evaluates θ_ε at this argument; Corollary 1 answers with the sharper (11) only",
        ),
        Statement(number="Corollary 2", says="convex losses, one record a batch"),
        Statement(number="Corollary 2, batches", says="the same with batches"),
        Statement(number="Corollary 3", says="a random round is released"),
        Statement(number="(12)", says="the same, closed"),
        Statement(
            number="after Corollary 3",
            says="δ and the rate with σ_t² = √n",
            theorems=("asoodeh.corollary-3",),
            partly="δ is served, as Corollary 3 is for any steps and noise; the rate has an unspecified constant",
        ),
        Statement(
            number="α-suffix averaging",
            says="a random round of the last ones",
            theorems=("asoodeh.corollary-3",),
            alone=True,
        ),
        Statement(
            number="Algorithm 1",
            says="projected noisy SGD over secret batches",
            theorems=("asoodeh.2",),
            alone=True,
            runs=("projected-sgd",),
            functions=("epsilond.mechanisms.from_calibration",),
        ),
        Statement(
            number="Figure 2",
            says="δ beside ε for three sizes of batches",
            theorems=("asoodeh.2",),
        ),
        Statement(
            number="Facts of E_ε",
            says="between 0 and the total variation, convex, never more after processing",
            theorems=("asoodeh.section-2", "asoodeh.1", "asoodeh.lemma-1"),
        ),
        Statement(
            number="O(1/√T)",
            says="the rate without strong convexity",
            theorems=("asoodeh.convex-losses", "epsilond.one-pass-convex-excess-risk"),
        ),
    ),
)
