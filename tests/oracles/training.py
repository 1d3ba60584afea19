"""The papers' algorithms as their pseudo code has them, without noise: one vector at a time, and nothing of ours.

`gradient(model, client, record)` is that of one record's loss, `batches[t]` the records that each participant of round t
reads, `ball` the radius of the domain around `start`.
"""

from __future__ import annotations

import math

import numpy as np


def clipped(vector, bound):
    norm = math.sqrt(sum(float(each) ** 2 for each in vector))
    return vector if norm <= bound else vector * (bound / norm)


def projected(model, start, ball):
    return start + clipped(model - start, ball)


def mean_of(model, client, records, gradient, bound, divisor):
    total = np.zeros_like(model)
    for record in records:
        total = total + clipped(gradient(model, client, record), bound)
    return total / divisor


def mini_batch(start, gradient, batches, *, step, bound, divisor, ball, ratio):
    """Lowy and Razaviyayn, Algorithm 1; the output is Σ γ_r w_r / Σ γ_r with γ_r = ratio^r, r from 1."""
    model, models = start, []
    for batch in batches:
        messages = [mean_of(model, client, records, gradient, bound, divisor) for client, records in batch.items()]
        model = projected(model - step * sum(messages) / len(messages), start, ball)
        models.append(model)
    weights = [ratio**number for number in range(1, len(models) + 1)]
    return sum(weight * each for weight, each in zip(weights, models, strict=True)) / sum(weights)


def accelerated(start, gradient, batches, *, stages, mu, bound, divisor, ball):
    """Lowy and Razaviyayn, Algorithm 2: stages of (rounds, v)."""
    batches, output = iter(batches), start
    for rounds, v in stages:
        w = aggregate = output
        for t in range(1, rounds + 1):
            alpha, eta = 2 / (t + 1), 4 * v / (t * (t + 1))
            middle = ((1 - alpha) * (mu + eta) * aggregate + alpha * ((1 - alpha) * mu + eta) * w) / (
                eta + (1 - alpha**2) * mu
            )
            batch = next(batches)
            messages = [mean_of(middle, one, records, gradient, bound, divisor) for one, records in batch.items()]
            mean = sum(messages) / len(messages)
            centre = (alpha * mu * middle + ((1 - alpha) * mu + eta) * w - alpha * mean) / (mu + eta)
            w = projected(centre, start, ball)
            aggregate = alpha * w + (1 - alpha) * aggregate
        output = aggregate
    return output


def normalised(start, gradient, rounds, sizes, *, local_steps, local_step, server_step):
    """Das et al., NormFedAvg: Algorithm 1 without quantisation."""
    model = start
    for participants in rounds:
        directions = []
        for client in participants:
            local = model
            for _ in range(local_steps):
                mean = sum(gradient(local, client, record) for record in range(sizes[client])) / sizes[client]
                local = local - local_step * mean
            update = model - local
            directions.append(update / math.sqrt(sum(float(each) ** 2 for each in update)))
        model = model - server_step * sum(directions) / len(directions)
    return model


def averaged_updates(start, gradient, rounds, sizes, *, local_steps, local_step, server_step, bound, planned, adaptive):
    """McMahan et al.; with `adaptive`, Andrew et al.: C ← C exp(−0.2 (share − ½)), the share of updates within C."""
    model, bounds = start, []
    for participants in rounds:
        total, within = np.zeros_like(start), 0.0
        for client in participants:
            local = model
            for _ in range(local_steps):
                mean = sum(gradient(local, client, record) for record in range(sizes[client])) / sizes[client]
                local = local - local_step * mean
            update = model - local
            total = total + clipped(update, bound)
            within += 0.5 if math.sqrt(float(update @ update)) <= bound else -0.5
        model = model - server_step * total / planned
        bounds.append(bound)
        if adaptive:
            bound *= math.exp(-0.2 * (0.5 + within / planned - 0.5))
    return model, bounds


def one_release(start, gradient, batches, *, steps, ball):
    """Asoodeh et al., Algorithm 1: all models."""
    models = [start]
    for batch, step in zip(batches, steps, strict=True):
        mean = sum(gradient(models[-1], client, 0) for client in batch) / len(batch)
        models.append(projected(models[-1] - step * mean, start, ball))
    return models


def personalised(start, gradient, batches, *, clients, weight, rate, shared_step, own_step, bound, added_up):
    """Bietti et al., Algorithms 2 and 3: the means of w and of w + θ_i before each round."""
    shared, own = start, [np.zeros_like(start) for _ in range(clients)]
    shared_all, own_all = [], []
    for batch in batches:
        shared_all.append(shared)
        own_all.append(list(own))
        total = np.zeros_like(start)
        for client, records in batch.items():
            message = sum(gradient(shared + own[client], client, record) for record in records)
            message = message if added_up else message / len(records)
            total = total + clipped(message, bound)
            own[client] = own[client] - own_step * message
        shared = shared - shared_step * total / (rate * weight)
    mean = sum(shared_all) / len(shared_all)
    personal = [mean + sum(each[client] for each in own_all) / len(own_all) for client in range(clients)]
    return mean, np.stack(personal)


def mu2(start, gradient, batches, *, step, participants, bound, ball):
    """Reshef and Levy, Algorithm 1: x_1, …, x_T; α_t = t, and x_{t+1} weighs w_{τ+1} with α_τ, τ ≤ t."""
    x, w, q = [start], [start], np.zeros_like(start)
    before = start
    for t, batch in enumerate(batches, start=1):
        for client, (record,) in batch.items():
            difference = t * gradient(x[-1], client, record) - (t - 1) * gradient(before, client, record)
            q = q + clipped(difference, bound) / participants
        w.append(projected(w[-1] - step * q, start, ball))
        before = x[-1]
        x.append(averaged(x, w, t))
    return x


def averaged(x, w, t):
    """x_{t+1} = (1 − α_{t+1}/α_{1:t+1}) x_t + (α_{t+1}/α_{1:t+1}) w_{t+1}, with α_τ = τ."""
    share = (t + 1) / sum(range(1, t + 2))
    return (1 - share) * x[t - 1] + share * w[t]
