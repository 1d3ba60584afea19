"""A ledger's report as a page of HTML that carries its data and its signature and needs no other file."""
