"""The 37 statements of Bietti et al. (2022)."""

from scripts.coverage.statement import Paper, Statement

RUNS = ("ppsgd",)
STAND_IN = "Stack Overflow's tags and federated EMNIST ship with no package used here"
NETWORKS = "no network is trained here, and federated EMNIST ships with no package used here"
GRIDS = "the grids of the synthetic data are served whole; those of Stack Overflow and EMNIST are not"
SYNTHETIC = (
    "in the paper the last 5 of 100 coordinates differ between users, and step sizes and α are on grids; in these runs"
    " all coordinates differ, at one step size and five α"
)
PAPERS_OWN = ("bietti.4.5", "bietti.5.2", "bietti.b.4")

PAPER = Paper(
    key="bietti2022",
    word="Bietti",
    statements=(
        Statement(
            number="Definition 3.1",
            says="privacy of a user's whole data",
            theorems=("asoodeh.section-2",),
            used="guarantees with `unit` `client`",
        ),
        Statement(
            number="Definition 3.2",
            says="joint privacy: what all others get tells little of a user's data",
            theorems=("hsu-2014.billboard-lemma",),
            used="guarantees whose `definition` is `joint`, against the observer `other-clients`; `relation` says"
            " whether a user is replaced, as the definition has it, or left out, as the text beside it",
        ),
        Statement(number="Theorem 4.1", says="the noise of PPSGD, all users in each round"),
        Statement(
            number="Assumption 4.2",
            says="an optimum of finite α-norm",
            theorems=(*PAPERS_OWN, "epsilond.minimal-norm-optimum"),
            used="the input `weighted_optimum_norm` of the bounds, or of Lemma 4.6, which finds the least",
        ),
        Statement(
            number="Assumption 4.3",
            says="losses jointly convex and smooth",
            theorems=PAPERS_OWN,
            used="the condition `convex-and-smooth` of every bound, which the caller declares",
        ),
        Statement(
            number="Assumption 4.4",
            says="bounded gradients of the shared part",
            theorems=PAPERS_OWN,
            used="the condition `gradients-below-clipping`, which is checked where G and C are given; that squared"
            " losses do not meet it is an erratum",
        ),
        Statement(number="Theorem 4.5, (6)", says="the total variance"),
        Statement(number="Theorem 4.5, (7)", says="the step, and the generalisation of PPSGD"),
        Statement(number="(9)", says="bias, statistical and privacy error at the certified noise"),
        Statement(number="(22)", says="any step size"),
        Statement(number="(23)", says="any step size, simpler", theorems=("bietti.4.5.any-step",)),
        Statement(
            number="Section 4, global limit", says="nothing personal", theorems=("bietti.4.5.global-limit",), alone=True
        ),
        Statement(
            number="Section 4, local limit",
            says="nothing shared",
            theorems=("bietti.4.5.local-limit",),
            alone=True,
        ),
        Statement(
            number="Lemma 4.6, norm",
            says="the least norm of an optimum of the additive model",
            theorems=("epsilond.minimal-norm-optimum",),
        ),
        Statement(number="Lemma 4.6, variance", says="the variance term"),
        Statement(number="(10)", says="when to personalise", theorems=("bietti.lemma-4.6", "bietti.squared-loss")),
        Statement(number="Theorem 5.1", says="the noise with users drawn: (12)"),
        Statement(number="Theorem 5.2", says="generalisation with users drawn: (13)"),
        Statement(number="(14)", says="the same at the noise of (12)"),
        Statement(
            number="Lemma B.1",
            says="the billboard lemma: joint privacy from what all may see",
            theorems=("hsu-2014.billboard-lemma",),
            alone=True,
        ),
        Statement(
            number="Lemma B.2",
            says="the squared distance of a gradient from that at the optimum is at most 2L_α times the excess loss",
            theorems=("bietti.4.5.any-step",),
            partly="the step of the proof of Theorem 4.5 that uses it is served; the inequality has no evaluation of"
            " its own",
        ),
        Statement(
            number="Lemma B.3",
            says="the same with users drawn, and its constant L_{m,α}",
            theorems=("bietti.5.2", "bietti.b.4"),
            partly="its constant is served as `proof_weighted_smoothness`, corrected as `weighted_smoothness`, and so"
            " is what follows from it; the inequality for one gradient has no evaluation of its own",
        ),
        Statement(number="Theorem B.4", says="every user counts alike: (15), (16), (35)"),
        Statement(number="(36)", says="the same at the noise of (12)"),
        Statement(
            number="Cost of heterogeneity",
            says="users of unlike size",
            theorems=("bietti.5.2", "bietti.b.4"),
            alone=True,
        ),
        Statement(
            number="Appendix B.2",
            says="the constants of the proofs, with those of Appendix B.3",
            theorems=("epsilond.personalized-sgd-excess-risk",),
        ),
        Statement(
            number="Bias at q = 1/N",
            says="one user a round",
            theorems=("bietti.section-5-bias", "bietti.5.2"),
            alone=True,
        ),
        Statement(number="Section 6", says="the noise of the experiments"),
        Statement(
            number="Appendix A, grids",
            says="the grids of the experiments",
            theorems=("bietti.section-6", "bietti.appendix-a"),
            alone=True,
            experiments=("ppsgd-synthetic-full", "ppsgd-synthetic-grid"),
            partly=GRIDS,
        ),
        Statement(
            number="Algorithm 1",
            says="PPSGD, all users in each round",
            theorems=("bietti.4.1", "bietti.4.5"),
            alone=True,
            runs=RUNS,
            functions=("epsilond.train",),
            experiments=("ppsgd-digits",),
        ),
        Statement(
            number="Algorithm 2",
            says="PPSGD, users drawn and weighed by their records",
            theorems=("bietti.5.1", "bietti.5.2"),
            alone=True,
            runs=RUNS,
            functions=("epsilond.train",),
            experiments=("ppsgd-digits",),
        ),
        Statement(
            number="Algorithm 3",
            says="PPSGD, users drawn and weighed alike",
            theorems=("bietti.b.4",),
            alone=True,
            runs=RUNS,
            functions=("epsilond.train",),
            experiments=("ppsgd-digits",),
        ),
        Statement(
            number="Figure 1a",
            says="excess risk by privacy and share of personalisation",
            experiments=("ppsgd-synthetic", "ppsgd-synthetic-full"),
            partly=SYNTHETIC,
        ),
        *(
            Statement(
                number=f"Figure {number}",
                says=f"test accuracy on {data}",
                experiments=("ppsgd-digits",),
                partly=reason,
                stand_in="ppsgd-digits",
            )
            for number, data, reason in (
                ("1b", "Stack Overflow's tags", STAND_IN),
                ("1c", "federated EMNIST, linear models", STAND_IN),
                ("1d", "federated EMNIST, a convolutional network with personal output layers", NETWORKS),
            )
        ),
        Statement(
            number="Figure 2",
            says="test accuracy against ε on Stack Overflow's tags and EMNIST, at the best personalisation",
            experiments=("ppsgd-digits",),
            partly=f"{STAND_IN}; the experiment has accuracies at three certified ε",
            stand_in="ppsgd-digits",
        ),
    ),
)
