"""The 33 statements of Reshef and Levy (2025)."""

from scripts.coverage.statement import Paper, Statement

STAND_IN = "MNIST ships with no package used here; the constants at the paper's own settings are served"

PAPER = Paper(
    key="reshef2025",
    word="Reshef",
    statements=(
        Statement(number="Lemma 2.1", says="the variance of a round's gradient"),
        Statement(
            number="Definition 2.2",
            says="the Rényi divergence of two laws",
            theorems=("reshef.appendix-a.post-processing", "reshef.appendix-a.products"),
        ),
        Statement(number="Lemma 2.3", says="the divergence of two Gaussians"),
        Statement(
            number="Definition 2.4",
            says="(ε, δ)-differential privacy",
            theorems=("asoodeh.section-2",),
            used="every δ of a guarantee is this one, the divergence E_ε of the two laws, and every ε its inverse",
        ),
        Statement(
            number="Definition 2.5",
            says="privacy by Rényi divergences",
            theorems=("reshef.lemma-2.3",),
            used="the divergences of Lemmas 2.3, A.3 and A.4, at each order",
        ),
        Statement(number="Lemma 2.6", says="from concentrated privacy to (ε, δ)"),
        Statement(
            number="Definition 2.7",
            says="zero-concentrated privacy",
            theorems=("reshef.lemma-2.6", "reshef.lemma-a.3"),
            used="the premise of Lemmas 2.6 and A.3; ρ of the theorems is the `concentrated_mu` of the second, √(2ρ) of"
            " Bun and Steinke's",
        ),
        Statement(number="(4)", says="defaults of variances and sensitivity, (4) to (7)"),
        Statement(number="Lemma 4.1", says="what the noise leaves in the sum"),
        Statement(number="Lemma 4.2", says="the error of a message"),
        Statement(number="Lemma 4.3", says="the error of an estimate"),
        Statement(
            number="Theorem 5.1",
            says="privacy of a client's messages, untrusted server",
            theorems=("epsilond.noise-cancellation-records",),
        ),
        Statement(
            number="Theorem 5.2",
            says="schedule, step and excess loss, untrusted server",
            theorems=("epsilond.noise-cancellation-schedule", "epsilond.noise-cancellation-excess-risk"),
        ),
        Statement(number="Theorem F.1", says="privacy with a trusted server"),
        Statement(number="Theorem F.2", says="excess loss with a trusted server"),
        Statement(number="Theorem A.1", says="from the regret of weighted steps to the loss of their mean"),
        Statement(
            number="Lemma A.2",
            says="squared norms of sums of martingale differences",
            absent="the equality E‖ΣZ‖² = ΣE‖Z‖² has no theorem here; Lemma 4.3, whose proof uses it, is served",
        ),
        Statement(
            number="Lemma A.3",
            says="concentrated privacy composes",
            theorems=("bun-steinke-2016.proposition-1.4",),
        ),
        Statement(number="Lemma A.4", says="post-processing does not enlarge a Rényi divergence"),
        Statement(number="Lemma A.5", says="the regret of projected steps"),
        Statement(number="Lemma A.6", says="an inequality that is false as printed"),
        Statement(number="Lemma A.7", says="a recursion, and its constant"),
        Statement(
            number="Appendix G",
            says="the error of differences since a client's last report, in the average case",
            theorems=("reshef.appendix-g",),
            alone=True,
        ),
        Statement(
            number="Lower bounds", says="the orders it compares with", theorems=("reshef.lower-bounds",), alone=True
        ),
        Statement(
            number="Noisy SGD",
            says="the method it compares with",
            theorems=("reshef.baseline",),
            alone=True,
            runs=("mu2-sgd",),
        ),
        Statement(
            number="Independent noise",
            says="fresh noise for each message",
            theorems=("epsilond.independent-noise-excess-risk",),
            alone=True,
        ),
        Statement(
            number="(12)",
            says="Alternative 1: differences since a client's last report, in sums of its own",
            theorems=("reshef.alternative-1", "epsilond.independent-noise-excess-risk"),
            runs=("mu2-sgd",),
        ),
        Statement(
            number="Algorithm 1",
            says="noise that is taken back, untrusted server",
            theorems=("reshef.5.1", "reshef.5.2", "reshef.algorithm-1-weights"),
            alone=True,
            runs=("mu2-sgd",),
            functions=("epsilond.mechanisms.from_calibration",),
        ),
        Statement(
            number="Algorithm 2",
            says="the same with a trusted server",
            theorems=("reshef.f.1", "reshef.f.2"),
            alone=True,
            runs=("mu2-sgd",),
            functions=("epsilond.mechanisms.from_calibration",),
        ),
        Statement(
            number="(8)",
            says="weights and steps, (8) to (10)",
            theorems=("reshef.algorithm-1-weights",),
            runs=("mu2-sgd",),
            functions=("epsilond.train",),
        ),
        Statement(
            number="(13)",
            says="messages and their noise, (13) to (15)",
            runs=("mu2-sgd",),
            functions=("epsilond.mechanisms.from_calibration", "epsilond.train"),
        ),
        Statement(
            number="Table 1",
            says="accuracy by ρ",
            theorems=("reshef.experiments",),
            experiments=("mu2-against-noisy-sgd",),
            partly=STAND_IN,
            stand_in="mu2-digits",
        ),
        Statement(
            number="Table 2",
            says="accuracy by clients in a round",
            theorems=("reshef.experiments",),
            experiments=("mu2-against-noisy-sgd",),
            partly=STAND_IN,
            stand_in="mu2-digits-participants",
        ),
    ),
)
