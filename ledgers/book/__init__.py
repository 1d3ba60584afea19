"""The protocol of ledgers: opened, reserved on, committed, and looked at, with every move in one transaction."""
