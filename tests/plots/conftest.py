import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(scope="session")
def penguins():
    import suffice

    X, species = suffice.load_penguins()
    return suffice.BayesClassifier().fit(X, species), X, species
