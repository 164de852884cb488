"""Databases to score rows in."""

import contextlib
import datetime as dt
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

TYPES = {
    "postgres": {float: "double precision", int: "bigint", bool: "boolean", str: "text"},
    "duckdb": {float: "DOUBLE", int: "BIGINT", bool: "BOOLEAN", str: "VARCHAR"},
    "sqlite": {float: "REAL", int: "INTEGER", bool: "INTEGER", str: "TEXT"},
}
DATES = {dt.datetime: "TIMESTAMP", dt.date: "DATE"}


def column_type(values):
    return next((type(value) for value in values if value is not None), float)


def plain_values(series, *, keep_nan):
    """Python values; a missing number is None, or NaN in every other row."""
    values = [v.to_pydatetime() if isinstance(v, pd.Timestamp) else v for v in series.astype(object)]
    nan = float("nan") if keep_nan and series.dtype == np.float64 else None
    return [(nan if row % 2 else None) if pd.isna(value) else value for row, value in enumerate(values)]


class Database:
    """A connection that makes tables of frames and runs queries."""

    def __init__(self, dialect, connection, placeholder):
        self.dialect = dialect
        self.connection = connection
        self.placeholder = placeholder

    def create(self, table, frame, schema=None):
        """Make a table of the frame, and the column "row id" with the number of each row."""
        columns = {
            name: plain_values(frame[name], keep_nan=self.dialect != "sqlite") for name in frame.columns
        }
        columns["row id"] = list(range(len(frame)))
        types = TYPES[self.dialect] | DATES
        declared = [f"{quoted(name)} {types[column_type(values)]}" for name, values in columns.items()]
        place = quoted(table) if schema is None else f"{quoted(schema)}.{quoted(table)}"
        cursor = self.connection.cursor()
        if schema is not None and self.dialect != "sqlite":
            cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
        cursor.execute(f"DROP TABLE IF EXISTS {place}")
        cursor.execute(f"CREATE TABLE {place} ({', '.join(declared)})")
        marks = ", ".join([self.placeholder] * len(columns))
        if self.placeholder == "%s":
            place = place.replace("%", "%%")
        cursor.executemany(
            f"INSERT INTO {place} VALUES ({marks})",  # noqa: S608  a table of the test's own
            list(zip(*columns.values(), strict=True)),
        )

    def run(self, query):
        """Column names, and rows in the order of their first column."""
        cursor = self.connection.cursor()
        cursor.execute(query)
        names = [column[0] for column in cursor.description]
        return names, sorted(cursor.fetchall(), key=lambda row: row[0])

    def scores(self, model, table, **settings):
        """What a query gives for each row, in their order."""
        query = model.to_sql(table, dialect=self.dialect, key="row id", **settings)
        return [row[1:] for row in self.run(query)[1]]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _server_binary(name):
    installed = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))]
    return installed[-1] if installed else shutil.which(name)


def _unprivileged(home):
    """Whom to run the server as: it refuses to run as root."""
    if os.getuid() != 0:
        return {}
    import pwd

    users = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = users.get("postgres") or users["nobody"]
    os.chown(home, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@contextlib.contextmanager
def _postgres_server():
    """A server of our own on a socket in an empty folder."""
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    initdb, server = _server_binary("initdb"), _server_binary("postgres")
    if initdb is None or server is None:
        pytest.skip("there is no PostgreSQL server on this machine (Debian: apt install postgresql)")
    home = Path(tempfile.mkdtemp(prefix="suffice-postgres-"))
    process = None
    try:
        settings: dict[str, Any] = {"cwd": home, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        settings |= _unprivileged(home)
        data = home / "data"
        made = [initdb, "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(made, check=True, **settings)  # noqa: S603  two programs of the system, and no input
        started = [server, "-D", data, "-k", home, "-c", "listen_addresses=", "-c", "fsync=off"]
        process = subprocess.Popen(started, **settings)  # noqa: S603  the same
        yield _connected(psycopg, process, home)
    finally:
        if process is not None:
            process.terminate()
            process.wait(30)
        shutil.rmtree(home, ignore_errors=True)


def _connected(psycopg, process, home):
    deadline = time.monotonic() + 30
    while True:
        try:
            # Statements are not prepared: tables of one name come and go with other types.
            return psycopg.connect(
                host=str(home), user="tester", dbname="postgres", autocommit=True, prepare_threshold=None
            )
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.1)


@pytest.fixture(scope="session")
def postgres():
    with _postgres_server() as connection:
        yield Database("postgres", connection, "%s")
        connection.close()


@pytest.fixture(scope="session")
def duckdb():
    module = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with module.connect() as connection:
        yield Database("duckdb", connection, "?")


@pytest.fixture(scope="session")
def sqlite():
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT LN(1), EXP(1), POWER(2, 2), SIN(1), FLOOR(1.5)")
    except sqlite3.OperationalError as error:
        pytest.skip(f"this SQLite was built without mathematical functions: {error}")
    yield Database("sqlite", connection, "?")
    connection.close()


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def database(request):
    return request.getfixturevalue(request.param)
