"""Lemmas E.5 and E.6 of Lowy and Razaviyayn: the variance of one averaged noisy gradient.

M of N clients are drawn without replacement, each draws K of its n records without replacement, and every client adds
its own Gaussian noise. Conditioning on the clients gives, exactly,

    V² = w²/M · (n − K)/((n − 1) K)  +  v²/M · (N − M)/(N − 1)  +  dσ²/M

with w² the mean over clients of the variance within a client and v² the variance of the clients' means; w² + v² is the
variance over all records (equal n). A random number of participants enters through M = 1/E[1/M_r] alone.
"""

from __future__ import annotations

from dataclasses import dataclass

_TESTS = "tests/theorems/risk/lowy_razaviyayn/test_variance.py"


def sampling_factor(*, population: int, drawn: float) -> float:
    """(N − m)/((N − 1) m): the variance of the mean of m of N values drawn without replacement, over their variance.

    0 for one value. `drawn` may be a harmonic mean of counts, since the factor is linear in 1/m (F-55, exact).
    """
    return (population - drawn) / ((population - 1) * drawn) if population > 1 else 0.0


def client_factor(*, clients: int, participants: float) -> float:
    """(1 − (M − 1)/(N − 1))/M, 0 for one client: `sampling_factor` of clients, the Υ²/(M v²) of F-06."""
    return sampling_factor(population=clients, drawn=participants)


@dataclass(frozen=True, kw_only=True)
class Variance:
    """The parts of V², in squared gradient units."""

    sampling: float
    clients: float
    noise: float

    @property
    def total(self) -> float:
        """V²."""
        return self.sampling + self.clients + self.noise


def gradient_variance(
    *,
    clients: int,
    participants: float,
    samples_per_client: int,
    batch_size: int,
    dimension: int,
    noise_std: float,
    empirical_gradient_std: float,
    empirical_heterogeneity: float,
) -> Variance:
    """An upper bound of V² when Φ̂² bounds the variance over all records, and v̂² that between clients, at every w.

    The exact V² is w²a + v²b with a, b the two factors, w² ≤ Φ̂² − v² and v ≤ min{v̂, Φ̂}: linear in v², hence largest
    at an end. Φ̂ = v̂ = L is always safe, as is v̂ = Φ̂. Identically distributed clients do *not* have v̂ = 0 (E-14).
    `noise_std` is the root mean square over clients where it differs between them.
    """
    within = sampling_factor(population=samples_per_client, drawn=batch_size) / participants
    between = client_factor(clients=clients, participants=participants)
    whole = empirical_gradient_std * empirical_gradient_std
    spread = min(empirical_heterogeneity, empirical_gradient_std)
    apart = spread * spread if between > within else 0.0
    return Variance(
        sampling=max(whole - apart, 0.0) * within,
        clients=apart * between,
        noise=dimension * noise_std * noise_std / participants,
    )


def fresh_gradient_variance(
    *,
    clients: int,
    participants: float,
    rms_participants: float,
    batch_size: int,
    average_gradient_variance: float,
    largest_gradient_variance: float,
    heterogeneity: float,
    dimension: int,
    average_noise_variance: float,
    largest_noise_variance: float,
) -> Variance:
    """The printed bound for records used once: min{Φ²/(M'K), φ²_max/(MK)} + Υ²/M + d min{Σ²/M', σ²_max/M} (F-53).

    Averages are root mean squares over the M_r largest (F-02); with equal clients both members of each minimum agree.
    """
    sampling = min(average_gradient_variance / rms_participants, largest_gradient_variance / participants)
    noise = min(average_noise_variance / rms_participants, largest_noise_variance / participants)
    between = client_factor(clients=clients, participants=participants)
    return Variance(
        sampling=sampling / batch_size, clients=between * heterogeneity * heterogeneity, noise=dimension * noise
    )


def reused_gradient_variance_printed(
    *,
    participants: float,
    rms_participants: float,
    batch_size: int,
    records: int,
    empirical_gradient_std: float,
    dimension: int,
    average_noise_variance: float,
    largest_noise_variance: float,
) -> Variance:
    """The printed bound for re-used records: Φ̂²/(MK) 1{MK < ñ} + noise, ñ all records. False for M < N (E-12)."""
    sampled = participants * batch_size
    noise = min(average_noise_variance / rms_participants, largest_noise_variance / participants)
    whole = empirical_gradient_std * empirical_gradient_std / sampled if sampled < records else 0.0
    return Variance(sampling=whole, clients=0.0, noise=dimension * noise)
