"""How much each word of a sentence surprises two language models."""

import numpy as np
from matplotlib.figure import Figure
from panels import new_figure, save

from suffice import TextClassifier
from suffice.plots.display import legend_under_all
from suffice.plots.palette import COLOURS, HATCHES

DOCUMENTS = {
    "cooking": [
        "stir the soup and add salt",
        "add the onions and stir",
        "salt the water and boil the rice",
        "bake the bread and cool the bread",
    ],
    "sailing": [
        "the wind turns and the boat heels",
        "haul the sail and turn the boat",
        "the salt water and the wind",
        "reef the sail in strong wind",
    ],
}
SENTENCE = "stir the salt water and turn the boat"


def languages() -> TextClassifier:
    """Fit one language model for each class."""
    texts = [text for texts in DOCUMENTS.values() for text in texts]
    return TextClassifier().fit(
        texts, np.repeat(list(DOCUMENTS), [len(texts) for texts in DOCUMENTS.values()])
    )


def draw() -> Figure:
    model = languages()
    words = SENTENCE.split()
    at = np.arange(len(words))
    figure = new_figure(4.2)
    ax = figure.add_subplot()
    bars = []
    for k, label in enumerate(DOCUMENTS):
        bits = -model.log_prob(words, label) / np.log(2.0)
        name = f"{label}: {bits.sum():.1f} bits"
        bars.append(ax.barh(at - 0.2 + 0.4 * k, bits, 0.38, color=COLOURS[k], hatch=HATCHES[k], label=name))
    ax.set_yticks(at, words)
    ax.invert_yaxis()
    ax.set(xlabel="information content −log₂ p(term | class)")
    legend_under_all(figure, bars)
    return figure


if __name__ == "__main__":
    save(draw, __file__)
