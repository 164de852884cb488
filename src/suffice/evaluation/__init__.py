"""How good a model is: metrics, comparisons and learning curves."""
