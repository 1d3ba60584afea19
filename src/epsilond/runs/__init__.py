"""Statements about runs that were trained elsewhere: a status, the evidence for it, and what the caller declares.

`epsilond.integrations` observes a run in the host library and fills an `Evidence`. From it every host makes the same
`RunStatement`, or raises `epsilond.RunDiffers`.
"""
