"""Pages for readers: documents, the description of the service, and the kinds of problem."""
