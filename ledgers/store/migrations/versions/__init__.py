"""The revisions, in the order of their `down_revision`."""
