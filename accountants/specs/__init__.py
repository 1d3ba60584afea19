"""The Spec language: frozen data that says what was run. Its meaning never changes.

`noise_multiplier` is σ over the bound C on the ℓ2 norm of one contribution, whatever the relation; the relation then
fixes the sensitivity (C for add-or-remove-one and zero-out-one, 2C for replace-one). The same holds of
`scale_multiplier` and the ℓ1 norm. Kinds that carry a sensitivity or a guarantee of their own mean it for the relation
of the request, and nothing is doubled. The `kind` of a `Spec` says which class it is. Theorems say what can be proved
of it.

Each kind says which mechanisms it admits. A certified number holds for all of them, so what a kind leaves open costs
privacy: name the narrowest kind that is so. Where a request protects clients, read *client* for *record*: one client
makes one contribution, or sends one report, of everything it has. What a kind demands of the data or of the program is
repeated in every answer as a declared condition.
"""

from epsilond.accountants.specs import mechanisms
from epsilond.accountants.specs.mechanisms import *  # noqa: F403  (its names are listed in its __all__)
from epsilond.accountants.specs.projected_sgd import ProjectedSgd
from epsilond.accountants.specs.runs import Composed, Repeated, Shuffled, Spec, Subsampled

__all__ = ["Composed", "ProjectedSgd", "Repeated", "Shuffled", "Spec", "Subsampled"]
__all__ += mechanisms.__all__
