"""The protocol of ledgers: they are opened, reserved on, committed and read, with every move in one transaction."""
