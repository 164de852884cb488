"""A solved model, and what is read off it: parameters, forms, samples, novelty."""
