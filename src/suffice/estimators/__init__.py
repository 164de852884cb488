"""What users fit: each dresses the model as a scikit-learn estimator."""
