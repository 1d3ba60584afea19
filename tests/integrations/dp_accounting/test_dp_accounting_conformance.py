"""dp-accounting's own conformance suite, which every `PrivacyAccountant` must pass, run on ours."""

from dp_accounting import NeighboringRelation
from dp_accounting.privacy_accountant_test import PrivacyAccountantTest

from epsilond.integrations.dp_accounting import EpsilondAccountant


class EpsilondAccountantTest(PrivacyAccountantTest):
    """Their suite; each test is run in all three neighbouring relations."""

    def _make_test_accountants(self):
        return [
            EpsilondAccountant(relation, unit="record", observer="released-models") for relation in NeighboringRelation
        ]


del PrivacyAccountantTest  # without a class of accountants it is not a test
