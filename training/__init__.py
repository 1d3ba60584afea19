"""Training: the client's and the server's side of every algorithm, and the loops that run them on the caller's data.

    Client(gradient, records)                           one client, as a function that returns gradients of its records
    tabular([(features, targets), …], loss="logistic")  clients of features and targets, with a built-in loss

This package uses no theorem. A calibration decides on the parameters of a run and passes them as plain numbers.
`epsilond.train` combines both.
"""

from epsilond.training.clients.callables import Client as Client
from epsilond.training.clients.losses import huber as huber
from epsilond.training.clients.losses import least_squares as least_squares
from epsilond.training.clients.losses import logistic as logistic
from epsilond.training.clients.losses import softmax as softmax
from epsilond.training.clients.tabular import tabular as tabular

__all__ = ["Client", "huber", "least_squares", "logistic", "softmax", "tabular"]
