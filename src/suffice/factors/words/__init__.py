"""A column of documents: counts of words over a vocabulary that grows."""
