from enum import StrEnum


class SolveFor(StrEnum):
    CLIENTS = "clients"
    DELTA = "delta"
    EPSILON = "epsilon"
    NOISE_MULTIPLIER = "noise_multiplier"
    NOISE_STD = "noise_std"
    PARTICIPANTS = "participants"
    RATE = "rate"
    ROUNDS = "rounds"
    SAMPLES_PER_CLIENT = "samples_per_client"
    STEP_SIZE = "step_size"

    def __str__(self) -> str:
        return str(self.value)
