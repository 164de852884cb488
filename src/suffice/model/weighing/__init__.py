"""Numbers learnt from rows whose classes are known: weights, corrections, calibration maps."""
