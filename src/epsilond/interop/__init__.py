"""What other libraries say was run, read as a Spec."""
