"""The questions of the library, a file each. They take plain Python values, and answer in frozen records."""
