"""A block of counts: the Multinomial."""
