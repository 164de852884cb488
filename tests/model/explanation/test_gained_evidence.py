"""evidence(X, y): what each column really adds to rows held out, beside what the model believes it adds."""

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, TextClassifier
from suffice.families import Categorical, Multinomial, MultivariateNormal, Normal, Poisson
from suffice.plots import EvidenceDisplay

RNG = np.random.default_rng(0)
N = 300
Y = np.array(["a", "b", "c"])[RNG.integers(0, 3, N)]
SHIFT = np.searchsorted(["a", "b", "c"], Y)
FRAME = pd.DataFrame(
    {
        "number": RNG.normal(SHIFT, 1.0),
        "level": np.array(["x", "y", "z"], dtype=object)[(SHIFT + RNG.integers(0, 2, N)) % 3],
        "count": RNG.poisson(1.0 + SHIFT).astype(float),
        "joint0": RNG.normal(SHIFT, 1.0),
        "joint1": RNG.normal(0.0, 2.0, N),
    }
).mask(RNG.random((N, 5)) < 0.15)
FAMILIES = {
    "number": Normal(),
    "level": Categorical(),
    "count": Poisson(),
    ("joint0", "joint1"): MultivariateNormal("full"),
}
TRAIN, TEST = slice(0, 150), slice(150, N)


def by_hand(posterior, priors, codes):
    """The nats that posteriors add to those of the priors: gained, and believed."""
    gain = np.log(posterior) - np.log(priors)
    return gain[np.arange(len(codes)), codes].mean(), np.sum(posterior * gain, axis=1).mean()


@pytest.mark.parametrize("missing", ["ignore", "evidence"])
@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_each_column_gains_what_its_marginal_model_says_of_the_true_class(missing, priors):
    model = BayesClassifier(FAMILIES, priors, missing=missing).fit(FRAME[TRAIN], Y[TRAIN])
    evidence = model.evidence(FRAME[TEST], Y[TEST])
    for j, name in enumerate(FRAME):
        hidden = FRAME[TEST].copy()
        others = [other for other in FRAME if other != name]
        hidden[others] = np.nan
        hidden["level"] = hidden["level"].astype(object)
        only = BayesClassifier(FAMILIES, priors, missing=[name] if missing == "evidence" else "ignore")
        posterior = only.fit(FRAME[TRAIN], Y[TRAIN]).predict_proba(hidden)
        expected = by_hand(posterior, model.priors_, SHIFT[TEST])
        np.testing.assert_allclose([evidence.gained[j], evidence.believed[j]], expected, atol=1e-12)


def test_without_rows_nothing_is_gained_and_the_divergences_are_the_same():
    model = BayesClassifier(FAMILIES).fit(FRAME[TRAIN], Y[TRAIN])
    plain, held_out = model.evidence(), model.evidence(FRAME[TEST], Y[TEST])
    assert plain.gained is None
    assert plain.believed is None
    np.testing.assert_array_equal(plain.kl, held_out.kl)
    assert list(plain.to_frame(pairs=False)) == ["column", "weight_of_evidence", "bhattacharyya"]


def test_one_count_of_a_multinomial_is_binomial():
    counts = pd.DataFrame({f"w{j}": RNG.poisson(1.0 + (SHIFT + j) % 3).astype(float) for j in range(3)})
    model = BayesClassifier(Multinomial()).fit(counts[TRAIN], Y[TRAIN])
    evidence = model.evidence(counts[TEST], Y[TEST])
    x, n = counts[TEST].to_numpy(), counts[TEST].sum(axis=1).to_numpy()
    for j in range(3):
        p = model.parameters_[f"w{j}"]["probability"]
        log_p = x[:, [j]] * np.log(p) + (n - x[:, j])[:, np.newaxis] * np.log1p(-p) + np.log(model.priors_)
        posterior = np.exp(log_p - np.logaddexp.reduce(log_p, axis=1, keepdims=True))
        expected = by_hand(posterior, model.priors_, SHIFT[TEST])
        np.testing.assert_allclose([evidence.gained[j], evidence.believed[j]], expected, atol=1e-12)


def test_a_true_model_gains_what_it_believes_and_levels_of_few_rows_do_not():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, 40_000)
    X = pd.DataFrame({"good": rng.normal(codes, 1.0), "noise": rng.integers(0, 4000, 40_000).astype(str)})
    model = BayesClassifier({"good": Normal(), "noise": Categorical(alpha=0.1)}).fit(
        X[:10_000], codes[:10_000]
    )
    evidence = model.evidence(X[10_000:], codes[10_000:])
    assert evidence.gained[0] == pytest.approx(evidence.believed[0], abs=0.01)
    assert evidence.believed[1] > 0.1
    assert evidence.gained[1] < 0.0


def test_a_column_left_out_gains_nothing():
    model = BayesClassifier({"count": None}).fit(FRAME[TRAIN], Y[TRAIN])
    evidence = model.evidence(FRAME[TEST], Y[TEST])
    assert (evidence.gained[2], evidence.believed[2]) == (0.0, 0.0)


def test_y_may_be_the_name_of_a_column():
    model = BayesClassifier(FAMILIES).fit(FRAME[TRAIN], Y[TRAIN])
    named = model.evidence(FRAME[TEST].assign(label=Y[TEST]), "label")
    np.testing.assert_array_equal(named.gained, model.evidence(FRAME[TEST], Y[TEST]).gained)


def test_discriminants_and_text_gain_too():
    X = FRAME[["joint0", "joint1"]].fillna(0.0)
    discriminant = GaussianDiscriminant("shared").fit(X[TRAIN], Y[TRAIN]).evidence(X[TEST], Y[TEST])
    assert discriminant.gained[0] > 0.1 > discriminant.gained[1]
    texts = np.array(["good film", "bad film", "dull plot"], dtype=object)[SHIFT]
    text = TextClassifier().fit(texts[TRAIN], Y[TRAIN]).evidence(texts[TEST], Y[TEST])
    assert text.gained[0] > 0.5


def test_the_strongest_column_on_these_rows_comes_first():
    model = BayesClassifier(FAMILIES).fit(FRAME[TRAIN], Y[TRAIN])
    evidence = model.evidence(FRAME[TEST], Y[TEST])
    ordered = [str(FRAME.columns[j]) for j in np.argsort(-evidence.gained, kind="stable")]
    head, *lines = repr(evidence).splitlines()
    assert head.split("  ")[0] == "column"
    assert "nats gained" in head
    assert "nats believed" in head
    assert [line.split()[0] for line in lines] == ordered
    shown = evidence._repr_html_()
    assert ">nats gained</th>" in shown
    assert [shown.index(f">{name}</td>") for name in ordered] == sorted(
        shown.index(f">{name}</td>") for name in ordered
    )
    frame = evidence.to_frame(pairs=False)
    assert list(frame)[:3] == ["column", "nats_gained", "nats_believed"]
    display = EvidenceDisplay.from_estimator(model, FRAME[TEST], Y[TEST])
    assert display.measures[0] == "nats_gained"
    assert list(display.bars("nats_gained", 15)[0]) == ordered
    assert "nats" in display.ax_.get_xlabel()


def test_many_columns_are_shown_in_part():
    X = RNG.normal(size=(60, 30))
    model = BayesClassifier().fit(X, Y[:60])
    assert repr(model.evidence()).splitlines()[-1] == "… and 10 weaker columns"
    assert "… and 10 weaker columns" in model.evidence()._repr_html_()


def test_many_rows_are_added_up_in_parts(monkeypatch):
    model = BayesClassifier(FAMILIES).fit(FRAME[TRAIN], Y[TRAIN])
    whole = model.evidence(FRAME[TEST], Y[TEST])
    from suffice.model.solved import solution

    monkeypatch.setattr(
        solution, "row_parts", lambda n, *_: [slice(start, min(start + 7, n)) for start in range(0, n, 7)]
    )
    parts = model.evidence(FRAME[TEST], Y[TEST])
    np.testing.assert_allclose(parts.gained, whole.gained, atol=1e-14)
    np.testing.assert_allclose(parts.believed, whole.believed, atol=1e-14)


def test_a_class_that_training_ruled_out_costs_everything():
    model = BayesClassifier(Categorical(alpha=0)).fit([["x"], ["x"], ["y"], ["z"]], [0, 0, 1, 1])
    evidence = model.evidence([["x"], ["y"]], [1, 1])
    assert evidence.gained[0] == -np.inf
    assert evidence.believed[0] == pytest.approx(np.log(2.0))


def test_rows_without_classes_are_refused():
    model = BayesClassifier(FAMILIES).fit(FRAME[TRAIN], Y[TRAIN])
    with pytest.raises(ValueError, match="pass both X and y"):
        model.evidence(FRAME[TEST])
    with pytest.raises(ValueError, match="there is no class 'd'"):
        model.evidence(FRAME[:2], ["a", "d"])
    with pytest.raises(ValueError, match="X has 3 rows, and y has 2 labels"):
        model.evidence(FRAME[:3], ["a", "b"])
    with pytest.raises(ValueError, match="X has no rows"):
        model.evidence(FRAME[:0], [])
    with pytest.raises(ValueError, match="complement"):
        suffice.TextClassifier("complement").fit(["a b", "c d"], [0, 1]).evidence(["a"], [0])
