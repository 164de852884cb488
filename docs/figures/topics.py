"""Precision against recall of three topics, by counts of words and by their presence."""

import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save

from suffice import TextClassifier
from suffice.plots import PrecisionRecallDisplay
from suffice.plots.display import legend_under_all

TOPICS = {"arts": 0.2, "politics": 0.5, "sports": 0.3}
N_WORDS = 40


def news(n: int, rng: np.random.Generator) -> tuple[list[str], np.ndarray]:
    """Return documents of ten words, most of which all topics use, and their topics."""
    topics = rng.choice(list(TOPICS), n, p=list(TOPICS.values()))
    documents = []
    for topic in topics:
        own = rng.random(10) < 0.25
        source = np.where(own, topic, rng.choice(list(TOPICS), 10))
        at = rng.integers(0, N_WORDS, 10)
        common = rng.random(10) < 0.3
        documents.append(
            " ".join(
                f"common{i}" if shared else f"{where}{i}"
                for i, where, shared in zip(at, source, common, strict=True)
            )
        )
    return documents, topics


def draw() -> Figure:
    rng = np.random.default_rng(0)
    documents, topics = news(600, rng)
    new_documents, new_topics = news(800, rng)
    figure = new_figure(6.8)
    panels = figure.subplots(2, 1, sharex=True, sharey=True)
    events = {"multinomial": "counts of words", "bernoulli": "presence of words"}
    for ax, (event, title) in zip(panels, events.items(), strict=True):
        model = TextClassifier(event).fit(documents, topics)
        display = PrecisionRecallDisplay.from_estimator(model, new_documents, new_topics, legend=False, ax=ax)
        areas = ", ".join(f"{curve.area:.2f}" for curve in display.curves)
        ax.set(title=f"{title} (areas {areas})")
    handles = display.handles()
    for handle, topic in zip(handles, TOPICS, strict=True):
        handle.set_label(topic)
    panels[0].set_xlabel("")
    legend_under_all(figure, handles)
    return figure


if __name__ == "__main__":
    save(draw, __file__)
