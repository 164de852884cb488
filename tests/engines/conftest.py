"""The same rows in every engine; Dask and Spark start once for all tests."""

import os
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.families import Bernoulli, Categorical, Gamma, Normal, Poisson

FAMILIES = {
    "height": Normal(),
    "wait": Gamma(),
    "calls": Poisson(),
    "paid": Bernoulli(),
    "town": Categorical(),
}


def made_rows(n_rows=1200, seed=0):
    """Rows of mixed columns, with gaps, and a class far from the other ones."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["a", "b", "c"], n_rows)
    rows = pd.DataFrame(
        {
            "height": rng.normal(size=n_rows) + np.select([kind == "a", kind == "b"], [1e6, 0.0], 3.0),
            "wait": rng.gamma(2.0, 3.0, n_rows),
            "calls": rng.poisson(3.0, n_rows),
            "paid": rng.integers(0, 2, n_rows).astype(bool),
            "town": rng.choice(["Ulm", "Rom", "Pau"], n_rows),
            "note": rng.choice(["please call again", "paid at once", "call me, please"], n_rows),
            "weight": rng.integers(0, 4, n_rows) / 2.0,
            "kind": kind,
        }
    )
    rows.loc[::7, "wait"] = np.nan
    rows.loc[5::11, "town"] = None
    return rows


@pytest.fixture(scope="session")
def rows():
    return made_rows()


@pytest.fixture(scope="session")
def table(rows):
    """The columns that have families of their own, and the class."""
    return rows[[*FAMILIES, "kind"]]


@pytest.fixture(scope="session")
def whole(table):
    """The statistics of all rows in memory."""
    return suffice.summarize(table, target="kind", families=FAMILIES)


PATIENT = {
    "distributed.comm.timeouts.connect": "300s",
    "distributed.comm.timeouts.tcp": "300s",
    "distributed.deploy.lost-worker-timeout": "300s",
}
"""A machine may be busy with other tests."""


@pytest.fixture(scope="session")
def cluster():
    """A Dask cluster of two processes."""
    distributed, dask = pytest.importorskip("distributed"), pytest.importorskip("dask")
    with warnings.catch_warnings(), dask.config.set(PATIENT):
        warnings.simplefilter("ignore")
        try:
            held = distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0
            )
        except (OSError, TimeoutError) as error:
            pytest.skip(f"no Dask cluster can be started here: {error}")
        with held, distributed.Client(held) as client:
            yield client


SPARK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # A machine may be busy with other tests.
    "spark.network.timeout": "600s",
    "spark.executor.heartbeatInterval": "60s",
    "spark.python.authenticate.socketTimeout": "300s",
}


@pytest.fixture(scope="session")
def java():
    """Makes Java start fast: what it runs here is over before compiling it well would pay."""
    return {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


@pytest.fixture(scope="session")
def spark(java):
    """A Spark session in local mode, whose tasks may fail three times."""
    pytest.importorskip("pyspark")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java 17, which .ci/install-services installs on Debian")
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = str(Path(suffice.__file__).parents[1])
        for name, value in java.items():
            patch.setenv(name, value)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]))
        session = SparkSession.builder.master("local[2,4]").config(map=SPARK).getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="session")
def families():
    return dict(FAMILIES)
