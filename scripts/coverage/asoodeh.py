"""The 35 statements of Asoodeh et al. (2021)."""

from scripts.coverage.statement import Paper, Statement

PAPER = Paper(
    key="asoodeh2021",
    word="Asoodeh",
    statements=(
        Statement(number="Theorem 1", says="the contraction of a channel is that of its rows"),
        Statement(number="(3)", says="privacy is a bound on E_ε for all neighbours"),
        Statement(number="(5)", says="the formula of Theorem 1"),
        Statement(number="(8)", says="the contractions of the later steps multiply"),
        Statement(
            number="(15)",
            says="the mean over the step of the record, before (19) and (24) bound its terms",
            theorems=("asoodeh.equation-8", "asoodeh.section-2", "asoodeh.2"),
            alone=True,
        ),
        Statement(number="(19)", says="the contraction of a step"),
        Statement(number="(24)", says="the divergence of the step that uses the record"),
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
        Statement(number="(6)", says="the function θ_ε", theorems=("asoodeh.lemma-1",), alone=True),
        Statement(
            number="after Lemma 1",
            says="without a bound on the inputs, Gaussian noise does not contract: θ_ε is 1 at an infinite diameter",
            theorems=("asoodeh.lemma-2",),
        ),
        Statement(number="Lemma 2", says="the contraction of Gaussian noise on a bounded set"),
        Statement(number="Corollary 1, utility", says="strongly convex losses, steps 1/(λt)"),
        Statement(number="Corollary 1, privacy", says="privacy with those steps"),
        Statement(number="(11)", says="the same, bounded", theorems=("asoodeh.corollary-1",)),
        Statement(
            number="after (11)",
            says="the simple bound δ ≤ θ_ε(2L/(√m σ)), and more noise or larger batches for more privacy",
            theorems=("asoodeh.after-11",),
        ),
        Statement(number="Corollary 2", says="convex losses, one record a batch"),
        Statement(number="Corollary 2, batches", says="the same with batches"),
        Statement(number="Corollary 3", says="a random round is released"),
        Statement(number="(12)", says="the same, closed"),
        Statement(
            number="after Corollary 3",
            says="δ and the rate with σ_t² = √n",
            theorems=("asoodeh.after-corollary-3",),
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
            number="Remark 1",
            says="Corollary 2 (misprinted as Theorem 2) is Shamir's Theorem 3 with noise in every step",
            theorems=("asoodeh.corollary-2",),
            used="the noise of Corollary 2: `noise_term` is all that it adds to the bound, and is 0 without noise",
        ),
        Statement(
            number="Figure 1",
            says="the chain of noisy steps as channels",
            theorems=("asoodeh.equation-8", "asoodeh.equation-19"),
            used="the step K_t of the drawing is the channel of (8), and (19) bounds its contraction",
        ),
        Statement(
            number="Figure 2",
            says="δ beside ε for three sizes of batches",
            theorems=("asoodeh.2",),
        ),
        Statement(
            number="(9)",
            says="the objectives of the risk, (9) and (10)",
            used="the objective F of Corollary 1, over the population, and of Corollary 2, over the data",
        ),
        Statement(
            number="Random stop",
            says="the mean of W_τ is that of all models, so that Corollary 2 holds for it",
            used="the risk of `asoodeh.corollary-2` is the mean over the steps, which is that of a uniform step",
        ),
        Statement(
            number="Footnote 1",
            says="(ε, δ) from Rényi privacy is weaker than E_ε computed directly",
            theorems=("mironov-2017.proposition-3", "canonne-kamath-steinke-2020.corollary-13", "asoodeh.lemma-1"),
            alone=True,
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
