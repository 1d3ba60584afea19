"""Clipping, noise, rounding to a grid and packing into bits, for the caller's own arrays.

`from_calibration(answer)` gives the client's and the server's side of a calibrated release. The random bits come from
the operating system unless a source is given; `seeded` is for tests and simulations. No privacy figure is computed
here. A release carries the guarantee of its answer, and lists the gaps that floating point leaves in it.
"""

from epsilond.mechanisms.calibrated import from_calibration as from_calibration
from epsilond.mechanisms.clipping import clip as clip
from epsilond.mechanisms.clipping import clip_layers as clip_layers
from epsilond.mechanisms.randomness import secure as secure
from epsilond.mechanisms.randomness import seeded as seeded

__all__ = ["clip", "clip_layers", "from_calibration", "secure", "seeded"]
