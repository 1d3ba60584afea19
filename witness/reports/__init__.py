"""Reports to sign: a calibration or an account as one page with its data, its hash and all its premises.

    make.py       makes a page of a checked request
    questions.py  lists the subjects of reports
    record.py     seals the data of a page with a hash, and opens a page again
    canonical.py  writes the canonical text of a JSON value, for its hash
    compare.py    compares the figures of two engines
    profile.py    computes the band of the privacy profile, and its drawing
    words.py      states the protected unit, the adversary, and the assumptions
    page.py       renders a record as HTML

No clock is read here: the date of a report is the caller's.
"""
