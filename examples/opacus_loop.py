"""DP-SGD with Opacus on handwritten digits, stopped by a ledger, with the certified ε and that of Opacus.

python examples/opacus_loop.py [FOLDER]

It needs torch, opacus and scikit-learn in addition to the library's extra `ledger`. The budget is a ledger for ε = 3 at
δ = 1e-5 with a plan of the training. Every step is committed before the model changes. The loop runs until the ledger
rejects a step.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch
from opacus.accountants import PRVAccountant, RDPAccountant
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import epsilond
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.opacus import EpsilondPrivacyEngine, get_noise_multiplier

EPSILON, DELTA = 3.0, 1e-5
BATCH, EPOCHS, CHUNK = 64, 12, 50
CLIPPING_NORM, LEARNING_RATE = 1.0, 1.0


def digits() -> tuple[TensorDataset, tuple[torch.Tensor, torch.Tensor]]:
    """Return 1437 images of 8 × 8 pixels for training, and 360 held out."""
    images, labels = load_digits(return_X_y=True)
    train, held_out, train_labels, held_out_labels = train_test_split(
        images / 16.0, labels, random_state=0, test_size=360
    )
    records = TensorDataset(torch.tensor(train, dtype=torch.float32), torch.tensor(train_labels))
    return records, (torch.tensor(held_out, dtype=torch.float32), torch.tensor(held_out_labels))


def epochs(model: nn.Module, optimizer: torch.optim.Optimizer, batches: DataLoader) -> None:
    """Train without end; the error of a spent ledger stops the loop."""
    while True:
        for images, labels in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()  # commits the step, then runs it


def main(folder: Path) -> None:
    """Open the ledger, train until it rejects a step, and print the spent ε."""
    torch.manual_seed(0)  # for the example alone: secure_mode draws its noise from the system's randomness
    records, (images, labels) = digits()
    loader = DataLoader(records, batch_size=BATCH)
    rate = 1 / len(loader)
    noise = get_noise_multiplier(target_epsilon=EPSILON, target_delta=DELTA, sample_rate=rate, epochs=EPOCHS)
    step = epsilond.Subsampled(sampling="poisson", rate=rate, mechanism=epsilond.Gaussian(noise_multiplier=noise))
    print(f"noise multiplier {noise:.4f} for {EPOCHS} epochs of {len(loader)} steps: ε = {EPSILON:g} at δ = {DELTA:g}")

    with epsilond.ledger(folder / "ledger.db") as books:
        ledger = books.open(
            name="digits",
            dataset="digits",
            unit="record",
            relation="add-or-remove-one",
            observer="released-models",
            epsilon=EPSILON,
            delta=DELTA,
            plan={"train": epsilond.Repeated(times=EPOCHS * len(loader), mechanism=step)},
            sealed=True,
        )
        model = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
        with LedgerBudget(ledger, "train", chunk=CHUNK) as budget:
            engine = EpsilondPrivacyEngine(budget=budget, public_size=True)  # the number of digits is public
            model, optimizer, batches = engine.make_private(
                module=model,
                optimizer=torch.optim.SGD(model.parameters(), lr=LEARNING_RATE),
                data_loader=loader,
                noise_multiplier=noise,
                max_grad_norm=CLIPPING_NORM,
            )
            try:
                epochs(model, optimizer, batches)
            except epsilond.LedgerExhausted as refused:
                print(f"stopped after {budget.taken} steps: {refused}")

        statement = engine.accountant.statement(delta=DELTA)  # or RunDiffers, if the run is not the recorded one
        print(statement)
        print(f"epsilond   ε within [{statement.epsilon.lower:.4f}, {statement.epsilon.upper:.4f}]")
        for name, theirs in (("Opacus prv", PRVAccountant()), ("Opacus rdp", RDPAccountant())):
            theirs.history = engine.accountant.history
            print(f"{name} ε = {theirs.get_epsilon(DELTA):.4f}")
        with torch.no_grad():
            accuracy = (model(images).argmax(dim=1) == labels).float().mean()
        print(f"accuracy on held-out images {accuracy:.3f}")
        for receipt in budget.receipts:
            print(f"receipt for {receipt.entry['count']} steps, written {receipt.entry['at']}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
