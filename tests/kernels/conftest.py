import pytest

from suffice.kernels import choose as choice


@pytest.fixture
def engines(monkeypatch):
    """Run something with the reference on all rows, and with compiled kernels in small parts."""

    def both(work):
        monkeypatch.setenv("SUFFICE_DISABLE_JIT", "1")
        plain = work()
        monkeypatch.setenv("SUFFICE_DISABLE_JIT", "0")
        for name, value in (("WORTH_COMPILING", 0), ("CELLS_AT_ONCE", 16)):
            monkeypatch.setattr(choice, name, value)
        monkeypatch.setattr("suffice.model.solved.solution.FEWEST_ROWS", 1)
        assert choice.gaussian_for(1).__name__.endswith("gaussian_compiled")
        assert choice.discrete_for(1).__name__.endswith("discrete_compiled")
        fast = work()
        monkeypatch.undo()
        return plain, fast

    return both
