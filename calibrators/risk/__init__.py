"""Upper and lower bounds on the excess risk of a run."""
