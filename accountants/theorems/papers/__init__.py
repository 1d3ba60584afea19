"""Privacy theorems of the implemented papers, one folder for each paper."""
