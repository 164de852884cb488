import io
import sys

import pytest

from suffice import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def _impatient(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)


@pytest.mark.usefixtures("_impatient")
def test_long_work_shows_a_line_on_a_terminal(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress.Progress("EM over the gaps") as line:
        line.say("step 7")
    assert "EM over the gaps" in screen.getvalue()


@pytest.mark.usefixtures("_impatient")
def test_a_pipe_stays_clean(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.Progress("EM over the gaps") as line:
        line.say("step 7")
    assert not screen.getvalue()


def test_short_work_shows_nothing(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.Progress("EM over the gaps") as line:
        line.say("step 7")
    assert not screen.getvalue()
