"""Evidence of many kinds, weighed."""
