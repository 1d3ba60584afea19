"""What the papers' algorithms do to a user's own arrays: clipping, noise, rounding to a grid, and packing into bits.

`from_calibration(answer)` gives the two sides of a calibrated release. Random bits are the operating system's wherever
no source is given; `randomness.seeded` is for tests and simulations. No privacy figure is computed here: an answer's
guarantee is carried along, with what floating point leaves open of it.
"""

from epsilond.mechanisms.calibrated import from_calibration as from_calibration
from epsilond.mechanisms.clipping import clip as clip
from epsilond.mechanisms.clipping import clip_layers as clip_layers
from epsilond.mechanisms.randomness import secure as secure
from epsilond.mechanisms.randomness import seeded as seeded

__all__ = ["clip", "clip_layers", "from_calibration", "secure", "seeded"]
