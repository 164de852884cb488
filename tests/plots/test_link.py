import numpy as np
import pytest

from suffice import links
from suffice.plots import LinkDisplay


def test_it_draws_the_sigmoid_and_the_scaled_probit():
    display = LinkDisplay.from_links()
    sigmoid, probit = display.ax_.get_lines()
    np.testing.assert_array_equal(sigmoid.get_ydata(), links.logistic(display.a))
    np.testing.assert_array_equal(probit.get_ydata(), links.scaled_probit(display.a))
    assert np.abs(display.y[0] - display.y[1]).max() < 0.019
    assert display.to_frame().column_names == ["a", "logistic", "scaled_probit"]


def test_unknown_links_are_refused():
    with pytest.raises(ValueError, match="no link 'cloglog'"):
        LinkDisplay.from_links(["cloglog"])
