from enum import StrEnum


class Observer(StrEnum):
    FINAL_MODEL = "final-model"
    OTHER_CLIENTS = "other-clients"
    RELEASED_MODELS = "released-models"
    SERVER = "server"
    SHUFFLED_SERVER = "shuffled-server"

    def __str__(self) -> str:
        return str(self.value)
