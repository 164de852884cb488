import pytest

from suffice.cli import demo


@pytest.fixture
def printed(capsys):
    demo.main()
    return capsys.readouterr().out


def test_the_demonstration_shows_schema_evaluation_explanation_and_arithmetic(printed):
    for part in (
        "flipper_length_mm  Normal(dispersion='shared')",
        "accuracy",
        "undefined",
        "missing",
        "log odds",
        "differ by at most",
    ):
        assert part in printed


def test_the_demonstration_fits_a_terminal(printed):
    assert max(map(len, printed.splitlines())) <= 100
