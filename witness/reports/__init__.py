"""Reports to sign: a calibration or an account as one page that carries its data, its hash and all it rests on.

    make.py       from a checked request to a page
    questions.py  what a report can be about
    record.py     what a page carries, its hash, and a page opened again
    canonical.py  the one text of a JSON value, which is hashed
    compare.py    the figures of two engines, side by side
    profile.py    the band of the privacy profile, and its drawing
    words.py      what is protected, from whom, and under which assumptions
    page.py       from a record to HTML

No clock is read here: the date of a report is the caller's.
"""
