"""What the implemented papers prove about privacy, one folder for each paper."""
