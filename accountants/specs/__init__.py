"""The specs: frozen data that describes a run. The meaning of a spec never changes.

`noise_multiplier` is σ over the bound C on the ℓ2 norm of one contribution, in every relation. The relation fixes the
sensitivity: C for add-or-remove-one and zero-out-one, 2C for replace-one. `scale_multiplier` is defined in the same way
with the ℓ1 norm. Kinds with a sensitivity or a guarantee of their own mean it for the relation of the request, and
nothing is doubled. The field `kind` of a `Spec` names its class. Theorems state the privacy of a spec.

Each kind lists the mechanisms that it admits. A certified number holds for all of them, so a wide kind has a weak
guarantee: use the narrowest kind that is true. If a request protects clients, read *client* for *record*: one client
makes one contribution, or sends one report, of all its data. The requirements of a kind on the data or on the program
are repeated in every answer as declared conditions.
"""

from epsilond.accountants.specs import mechanisms
from epsilond.accountants.specs.mechanisms import *  # noqa: F403  (its names are listed in its __all__)
from epsilond.accountants.specs.projected_sgd import ProjectedSgd
from epsilond.accountants.specs.runs import (
    Composed,
    RandomAllocation,
    Repeated,
    SelectBest,
    Shuffled,
    Spec,
    Subsampled,
)
from epsilond.accountants.specs.selection.repetitions import (
    GeometricRepetitions,
    NegativeBinomialRepetitions,
    PoissonRepetitions,
)

__all__ = [
    "Composed",
    "GeometricRepetitions",
    "NegativeBinomialRepetitions",
    "PoissonRepetitions",
    "ProjectedSgd",
    "RandomAllocation",
    "Repeated",
    "SelectBest",
    "Shuffled",
    "Spec",
    "Subsampled",
]
__all__ += mechanisms.__all__
