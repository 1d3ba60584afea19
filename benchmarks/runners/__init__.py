"""Programs that answer questions, a JSON object a line, each with the interpreter of its accountant."""
