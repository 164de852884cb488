"""Sums by GROUP BY: the engine that holds the rows adds them up, to the digits of our own sums."""

import duckdb
import ibis
import numpy as np
import polars as pl
import pytest

import suffice
from suffice.engines.streams import ScannedRows
from suffice.engines.traced import Cells, UntracedError
from suffice.families import (
    Bernoulli,
    Beta,
    Categorical,
    ElementaryFunction,
    Exponential,
    Gamma,
    Geometric,
    InverseGaussian,
    LogNormal,
    Normal,
    Poisson,
    VonMises,
)
from suffice.families.elementary import NAMED, elementary

EVERY = {
    "normal": Normal(),
    "shared": Normal("shared"),
    "log_normal": LogNormal(),
    "gamma": Gamma(),
    "exponential": Exponential(),
    "inverse_gaussian": InverseGaussian(),
    "beta": Beta(),
    "von_mises": VonMises(),
    "poisson": Poisson(),
    "geometric": Geometric(),
    "flag": Bernoulli(),
    "level": Categorical(),
    "number": Categorical(),
}
ENGINES = {
    "polars": lambda frame: frame.lazy(),
    "duckdb": lambda frame: duckdb.from_arrow(frame.to_arrow()),
    "ibis": lambda frame: ibis.connect("polars://").create_table("rows", frame),
}


@pytest.fixture(scope="module")
def every():
    """A column for each family, with gaps and NaN, and classes far apart."""
    rng, n = np.random.default_rng(1), 800
    kind = rng.choice(["a", "b"], n)
    frame = pl.DataFrame(
        {
            "normal": rng.normal(size=n) + np.where(kind == "a", 1e7, -3.0),
            "shared": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "log_normal": np.exp(rng.normal(size=n)),
            "gamma": rng.gamma(2.0, 3.0, n),
            "exponential": rng.exponential(size=n),
            "inverse_gaussian": rng.wald(1.0, 2.0, n),
            "beta": rng.beta(2.0, 3.0, n),
            "von_mises": rng.uniform(-3.0, 3.0, n),
            "poisson": rng.poisson(3.0, n),
            "geometric": rng.geometric(0.3, n) - 1,
            "flag": rng.random(n) < 0.3,
            "level": rng.choice(["x", "y", "z"], n),
            "number": rng.integers(0, 4, n),
            "weight": rng.integers(0, 4, n) / 2.0,
            "kind": kind,
        }
    )
    gaps = pl.Series(np.arange(n) % 13 == 0)
    return frame.with_columns(
        pl.when(gaps).then(None).otherwise(pl.col(name)).alias(name) for name in ("gamma", "poisson", "level")
    )


@pytest.fixture
def n_read(monkeypatch):
    """How many rows have come to this process in batches."""
    count, frames = [0], ScannedRows.frames

    def counted(self, names):
        for frame in frames(self, names):
            count[0] += len(frame)
            yield frame

    monkeypatch.setattr(ScannedRows, "frames", counted)
    monkeypatch.setattr("suffice.engines.polars.SCHEMA_ROWS", 100)
    monkeypatch.setattr("suffice.engines.duckdb.SCHEMA_ROWS", 100)
    return count


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("engine", ENGINES)
def test_the_sums_of_an_engine_are_ours_to_twelve_digits(engine, weight, every, n_read):
    source = ENGINES[engine](every)
    dropped = ["weight"] if weight is None else []
    found = suffice.summarize(
        source, target="kind", families=EVERY, sample_weight=weight, drop=dropped, how="pushdown"
    )
    assert n_read[0] <= 100
    weights = None if weight is None else every["weight"].to_numpy()
    expected = suffice.summarize(every.drop("weight"), target="kind", families=EVERY, sample_weight=weights)
    for one, other, factor in zip(found.totals, expected.totals, expected.schema.factors, strict=True):
        assert one.matches(other, 1e-12), factor.family
    assert found.isclose(expected, rtol=1e-12)


def test_an_ibis_table_is_summed_where_it_is_unless_batches_are_asked_for(every, n_read):
    data, families = every.select("normal", "level", "kind"), {"normal": Normal(), "level": Categorical()}
    table = ibis.connect("polars://").create_table("rows", data)
    expected = suffice.summarize(data, target="kind", families=families)
    assert suffice.summarize(table, target="kind", families=families).isclose(expected)
    assert n_read[0] == 0
    found = suffice.summarize(table, target="kind", families=families, how="batches")
    assert found.isclose(expected)
    assert n_read[0] == len(data)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_names_of_columns_are_neither_patterns_nor_places(engine, table, families):
    names = dict(zip(table.columns, ["^x$", "x", "*", "c4", "c3", "^k.*$"], strict=True))
    data, renamed = table.rename(columns=names), {names[name]: family for name, family in families.items()}
    found = suffice.summarize(
        ENGINES[engine](pl.from_pandas(data)), target="^k.*$", families=renamed, how="pushdown"
    )
    assert found.isclose(suffice.summarize(data, target="^k.*$", families=renamed), rtol=1e-12)


def test_only_the_columns_that_an_engine_cannot_sum_are_read_in_batches(rows, monkeypatch):
    data = rows[["note", "height", "wait", "town", "kind"]]
    joint = suffice.families.MultivariateNormal("shared")
    families = {"note": suffice.families.Words(), "town": Categorical(), ("height", "wait"): joint}
    expected = suffice.summarize(data, target="kind", families=families)
    read, frames = [], ScannedRows.frames

    def noted(self, names):
        read.append(names)
        return frames(self, names)

    monkeypatch.setattr(ScannedRows, "frames", noted)
    frame = pl.from_pandas(data).lazy()
    found = suffice.summarize(frame, target="kind", families=families, how="pushdown")
    assert found.isclose(expected, rtol=1e-12)
    assert read == [tuple(data.columns), ("note", "height", "wait", "kind")]  # the first rows, then the rest


def test_a_value_outside_the_support_is_named(every):
    bad = every.select(gamma=pl.lit(-1.0), kind=pl.col("kind"))
    with pytest.raises(ValueError, match=r"column .gamma.: the value -1\.0"):
        suffice.summarize(bad.lazy(), target="kind", families={"gamma": Gamma()}, how="pushdown")


def test_missing_labels_are_refused_with_their_row(every):
    data = every.select(
        "normal", kind=pl.when(pl.Series(np.arange(len(every)) % 5 == 0)).then(None).otherwise(pl.col("kind"))
    )
    with pytest.raises(ValueError, match="column 'kind' has no label at row 0"):
        suffice.summarize(data.lazy(), target="kind", how="pushdown")


def test_how_is_checked(every, table):
    with pytest.raises(ValueError, match="how must be 'pushdown', 'batches' or None"):
        suffice.summarize(every.lazy(), target="kind", how="quickly")
    with pytest.raises(ValueError, match="how='pushdown' needs an engine that can group rows"):
        suffice.summarize([table], target="kind", how="pushdown")


@pytest.mark.parametrize("name", NAMED)
def test_every_function_is_computed_by_an_engine_as_by_numpy(name):
    import narwhals.stable.v2 as nw

    x = np.concatenate([np.linspace(0.01, 0.99, 50), 0.3 + np.array([0.0, 1e-17, 1e-12, -1e-9, 1e-6])])
    (one,) = elementary((name,))
    function = one if one.root is None else one.root

    def value(x, c):
        about = function.about(x, c)
        return about if one.root is None else one.value(about)

    frame = nw.from_native(pl.LazyFrame({"x": x}))
    found = frame.select(value(Cells(nw.col("x")), 0.3).expression.alias("f")).collect()["f"].to_numpy()
    np.testing.assert_allclose(found, value(x, 0.3), rtol=1e-14, atol=1e-17)


def test_a_function_that_no_engine_knows_is_left_to_batches(every, n_read):
    def rounded(x):
        return np.rint(x)

    with pytest.raises(UntracedError, match=r"np\.rint"):
        rounded(Cells(1.0))

    class Rounded(Exponential):
        functions = (ElementaryFunction("rounded", rounded),)

    data = every.select("exponential", "kind")
    found = suffice.summarize(data.lazy(), target="kind", families={"exponential": Rounded()}, how="pushdown")
    assert n_read[0] > len(data)
    assert found.n_rows == len(data)
