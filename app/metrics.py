"""What Prometheus reads at /metrics, one registry per application."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, PlatformCollector, ProcessCollector

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
BLOCK_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
WIDTHS = (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


class Metrics:
    """The service's own figures, beside the process's. Labels are names from our lists, never what a client sent."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        self.requests = Histogram(
            "epsilond_request_seconds",
            "Time to answer a request",
            ("method", "route", "status"),
            buckets=SECONDS,
            registry=registry,
        )
        self.calibrations = Histogram(
            "epsilond_calibration_seconds",
            "Time to answer a calibration",
            ("algorithm", "status"),
            buckets=SECONDS,
            registry=registry,
        )
        self.risk_bounds = Histogram(
            "epsilond_risk_bound_seconds",
            "Time to answer risk bounds",
            ("algorithm", "status"),
            buckets=SECONDS,
            registry=registry,
        )
        self.widths = Histogram(
            "epsilond_certificate_relative_width",
            "numerical.relative_width of the calibrations that were computed",
            ("algorithm",),
            buckets=WIDTHS,
            registry=registry,
        )
        self.worker_deaths = Counter(
            "epsilond_worker_deaths", "Workers that crashed or were killed", ("cause",), registry=registry
        )
        self.cache = Counter("epsilond_cache", "Outcomes by where they came from", ("use",), registry=registry)
        self.all_warm = Gauge("epsilond_workers_warm", "1 if no worker is to be replaced, else 0", registry=registry)
        self.simulations = Counter(
            "epsilond_simulations", "Simulations that ended, by how", ("kind", "status"), registry=registry
        )
        self.simulations_live = Gauge(
            "epsilond_simulations_under_way", "Simulations waiting and running", ("status",), registry=registry
        )
        self.simulation_blocks = Histogram(
            "epsilond_simulation_block_seconds",
            "Time of one block of a simulation",
            ("kind",),
            buckets=BLOCK_SECONDS,
            registry=registry,
        )
        self.event_streams = Gauge("epsilond_event_streams", "Event streams that are open", registry=registry)
        self.under_way = Gauge("epsilond_computations_under_way", "Computations running or waiting", registry=registry)
