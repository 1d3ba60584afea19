"""A new curve is pickled, by whatever method its runs are composed."""

import pickle

import pytest

import epsilond

LAPLACE = {"kind": "laplace", "scale_multiplier": 2.0}
GAUSSIAN = {"kind": "gaussian", "noise_multiplier": 1.0}
APPROXIMATE = {"kind": "approximate", "epsilon": 0.1, "delta": 1e-9}
SPECS = {
    "a sum of squares": {"kind": "repeated", "times": 10, "mechanism": GAUSSIAN},
    "exact distributions": {"kind": "repeated", "times": 5, "mechanism": LAPLACE},
    "different ones": {"kind": "composed", "mechanisms": [LAPLACE, LAPLACE, GAUSSIAN]},
    "few outcomes": {"kind": "repeated", "times": 7, "mechanism": APPROXIMATE},
    "sampled": {
        "kind": "repeated",
        "times": 1000,
        "mechanism": {"kind": "subsampled", "sampling": "poisson", "rate": 0.01, "mechanism": GAUSSIAN},
    },
}


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS.keys())
def test_a_pickled_curve_answers_the_same(spec):
    setting = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
    curve = epsilond.account(spec, **setting).guarantee.curve
    copy = pickle.loads(pickle.dumps(curve))
    assert copy.epsilon(delta=1e-6) == curve.epsilon(delta=1e-6)
    assert copy.delta(epsilon=1.5) == curve.delta(epsilon=1.5)
