"""The logistic sigmoid against the scaled probit."""

from matplotlib.figure import Figure
from panels import new_figure, save

from suffice.plots import LinkDisplay


def draw() -> Figure:
    display = LinkDisplay.from_links(ax=new_figure(3.6).add_subplot())
    gap = display.y[1] - display.y[0]
    widest = gap.argmax()
    display.ax_.annotate(
        f"farthest apart:\n{gap[widest]:.3f}",
        (display.a[widest], display.y[:, widest].mean()),
        xytext=(2.2, 0.45),
        arrowprops={"arrowstyle": "->", "color": "gray"},
    )
    return display.figure_


if __name__ == "__main__":
    save(draw, __file__)
