"""The 51 statements of Bietti et al. (2022)."""

from scripts.coverage.statement import Paper, Statement

RUNS = ("ppsgd",)
NO_DATA = "the experiment reads the users' own files, and no accuracy is stored, because no package brings these files"
GRIDS = (
    "the grids are served whole; no accuracy is stored, because no package brings Stack Overflow or federated EMNIST"
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
        Statement(number="(4)", says="the noise of Theorem 4.1"),
        Statement(
            number="(2)",
            says="the form of all bounds: a statistical cost, and a cost of privacy that vanishes at α = 0",
            theorems=("bietti.4.5.equation-9", "bietti.4.5.local-limit"),
        ),
        Statement(
            number="(3)",
            says="additive models: a client predicts with the sum of the shared model and its own",
            theorems=("bietti.lemma-4.6",),
            used="the models of Lemma 4.6, and of the training that is simulated as `ppsgd`",
        ),
        Statement(
            number="(5)",
            says="the norm of a shared and all own models, weighted by α",
            theorems=("bietti.4.5",),
            used="the input `weighted_optimum_norm` of the bounds",
        ),
        Statement(
            number="(11)",
            says="the objective that weighs clients by their records, and the records n_i = Tqm_i that a client uses",
            theorems=("bietti.5.2",),
            used="`weighting` `samples`, and `samples_per_client` for n_i",
        ),
        Statement(
            number="after Assumption 4.3",
            says="squared losses of features of norm R are 2R²-smooth",
            theorems=("bietti.squared-loss",),
        ),
        Statement(
            number="after Assumption 4.4",
            says="the variances of a linear model with label noise, and of batches",
            theorems=("bietti.appendix-a", "bietti.b.4"),
        ),
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
        Statement(number="(10)", says="when to personalise", theorems=("bietti.lemma-4.6",)),
        Statement(number="Theorem 5.1", says="the noise with users drawn"),
        Statement(number="(12)", says="the noise of Theorem 5.1"),
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
        ),
        Statement(
            number="Lemma B.3",
            says="the same with users drawn, and its constant L_{m,α}",
        ),
        Statement(number="(24)", says="the inequality of Lemma B.2"),
        Statement(number="(30)", says="the inequality of Lemma B.3, in the proof of Theorem 5.2"),
        Statement(number="(33)", says="any step size, users drawn"),
        Statement(number="(34)", says="the inequality of Lemma B.3"),
        Statement(number="Theorem B.4", says="every user counts alike"),
        Statement(number="(15)", says="every user counts alike, up to constants, (15) and (16)"),
        Statement(number="(16)", says="the formula of (15)"),
        Statement(number="(35)", says="the variance of Theorem B.4"),
        Statement(
            number="Section 5, all users",
            says="at q = 1 and one record a batch, Theorem 5.2 with the corrected smoothness is Theorem 4.5",
            theorems=("bietti.5.2", "bietti.4.5"),
        ),
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
            experiments=("ppsgd-synthetic-full", "ppsgd-synthetic-grid", "bietti-figure-1b", "bietti-figure-1c"),
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
        ),
        *(
            Statement(
                number=f"Figure {number}",
                says=f"test accuracy on {data}",
                experiments=("ppsgd-digits",),
                partly=NO_DATA,
                stand_in="ppsgd-digits",
            )
            for number, data in (
                ("1b", "Stack Overflow's tags"),
                ("1c", "federated EMNIST, linear models"),
                ("1d", "federated EMNIST, a convolutional network with personal output layers"),
            )
        ),
        Statement(
            number="Figure 2",
            says="test accuracy against ε on Stack Overflow's tags and EMNIST, at the best personalisation",
            experiments=("ppsgd-digits",),
            partly=NO_DATA,
            stand_in="ppsgd-digits",
        ),
    ),
)
