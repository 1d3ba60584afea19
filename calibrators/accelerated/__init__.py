"""What both accelerated algorithms share."""
