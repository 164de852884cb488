import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def no_figure_is_left():
    """Every test starts without figures and closes what it drew."""
    import matplotlib.pyplot as plt

    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def penguins():
    import suffice

    X, species = suffice.load_penguins()
    return suffice.BayesClassifier().fit(X, species), X, species
