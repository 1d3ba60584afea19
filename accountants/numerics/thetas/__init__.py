"""The hockey-stick divergence θ of two Gaussians, at many shifts at a time and with error bounds."""
