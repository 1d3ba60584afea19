"""The parts of answers: described values, printed readings and the JSON form."""
