"""Files that are damaged, and work that is interrupted."""

import gzip
import signal
import subprocess
import sys
from contextlib import contextmanager

import pandas as pd
import pytest

import suffice
from suffice.engines import checkpoint as checkpoints
from suffice.tables.files.formats import FileDataError

KILLED = """
import os, signal, sys
import suffice
from suffice.engines import checkpoint as checkpoints
from suffice.tables.files import batches

batches.SCHEMA_ROWS = 1
checkpoints.SECONDS = 0.0
left, note = [int(sys.argv[2])], checkpoints.Checkpoint.note

def counted(self, sums):
    note(self, sums)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)

checkpoints.Checkpoint.note = counted
folder = sys.argv[1]
model = suffice.BayesClassifier()
model.fit_from(folder + "/*.parquet", target="kind", checkpoint=folder + "/c.suffice")
model.save(folder + "/model.suffice")
"""


@pytest.fixture
def folder(table, tmp_path, monkeypatch):
    """Files of several row groups, whose first batch is small."""
    monkeypatch.setattr("suffice.tables.files.batches.SCHEMA_ROWS", 1)
    for number in range(4):
        part = table.iloc[300 * number : 300 * (number + 1)]
        part.to_parquet(tmp_path / f"{number}.parquet", row_group_size=100, index=False)
    return tmp_path


def run(folder, n_notes):
    return subprocess.run(  # noqa: S603, our own code
        [sys.executable, "-c", KILLED, str(folder), str(n_notes)], capture_output=True, text=True, check=False
    )


def test_a_fit_that_is_killed_goes_on_and_ends_in_the_identical_model(folder):
    assert run(folder, 4).returncode == -signal.SIGKILL
    assert run(folder, 3).returncode == -signal.SIGKILL
    assert (folder / "c.suffice").exists()
    done = run(folder, 1000)
    assert done.returncode == 0, done.stderr
    assert not (folder / "c.suffice").exists()
    expected = suffice.BayesClassifier().fit_from(folder / "*.parquet", target="kind")
    expected.save(folder / "expected.suffice")
    assert (folder / "model.suffice").read_bytes() == (folder / "expected.suffice").read_bytes()


def interrupted(folder, monkeypatch, n_notes, **settings):
    """Stop after so many checkpoints."""
    note, left = checkpoints.Checkpoint.note, [n_notes]

    def stopping(self, sums):
        note(self, sums)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "SECONDS", 0.0)
        patch.setattr(checkpoints.Checkpoint, "note", stopping)
        with pytest.raises(KeyboardInterrupt):
            suffice.summarize(
                folder / "*.parquet", target="kind", checkpoint=folder / "c.suffice", **settings
            )


@pytest.mark.parametrize("n_notes", [1, 2, 6, 10])
def test_sums_go_on_from_any_batch(folder, monkeypatch, n_notes, families):
    expected = suffice.summarize(folder / "*.parquet", target="kind", families=families)
    interrupted(folder, monkeypatch, n_notes, families=families)
    found = suffice.summarize(
        folder / "*.parquet", target="kind", families=families, checkpoint=folder / "c.suffice"
    )
    assert found == expected
    assert not (folder / "c.suffice").exists()


def test_kernels_are_chosen_by_all_rows_so_far_even_after_going_on(folder, monkeypatch, families):
    chosen = []

    @contextmanager
    def choice(n_cells):
        chosen.append(n_cells)
        yield

    for module in ("suffice.engines.summarize", "suffice.estimators.from_sources"):
        monkeypatch.setattr(f"{module}.one_choice", choice)
    rows = {"target": "kind", "families": families}
    suffice.summarize(folder / "*.parquet", **rows)
    whole = chosen.copy()
    n_columns = whole[-1] // 1200
    assert whole[-1] == 1200 * n_columns
    assert whole == sorted(set(whole))
    chosen.clear()
    suffice.BayesClassifier(families).fit_from(folder / "*.parquet", target="kind")
    assert chosen == [0, *whole]
    interrupted(folder, monkeypatch, 5, families=families)
    chosen.clear()
    suffice.summarize(folder / "*.parquet", **rows, checkpoint=folder / "c.suffice")
    assert 0 < len(chosen) < len(whole)
    assert chosen == whole[-len(chosen) :]


def test_an_error_after_going_on_names_the_right_file(folder, monkeypatch, families):
    bad = pd.read_parquet(folder / "3.parquet").assign(wait=-1.0)
    bad.to_parquet(folder / "3.parquet", row_group_size=100, index=False)
    interrupted(folder, monkeypatch, 5, families=families)
    with pytest.raises(ValueError, match=r"3\.parquet, rows 0 to 99 \(row group 0\): column 'wait'"):
        suffice.summarize(
            folder / "*.parquet", target="kind", families=families, checkpoint=folder / "c.suffice"
        )
    assert (folder / "c.suffice").exists()


def test_a_checkpoint_of_other_files_is_refused(folder, monkeypatch, families):
    interrupted(folder, monkeypatch, 3, families=families)
    (folder / "3.parquet").unlink()
    with pytest.raises(
        ValueError, match="is of other files or columns, or the files have changed; delete it"
    ):
        suffice.summarize(folder / "*.parquet", target="kind", checkpoint=folder / "c.suffice")


def test_a_checkpoint_is_for_sums_of_files(folder, table):
    with pytest.raises(
        ValueError, match="works for models of sums, such as BayesClassifier; LogisticRegression needs rows"
    ):
        suffice.LogisticRegression().fit_from(folder / "0.parquet", target="kind", checkpoint=folder / "c")
    with pytest.raises(TypeError, match="checkpoint= works for files only"):
        suffice.summarize([table], target="kind", checkpoint=folder / "c")
    suffice.summarize(table, target="kind").save(folder / "s.suffice")
    with pytest.raises(ValueError, match="is not a checkpoint; name another file"):
        suffice.summarize(folder / "0.parquet", target="kind", checkpoint=folder / "s.suffice")


def test_a_truncated_file_among_a_hundred_is_named_or_skipped_with_a_report(table, families, tmp_path):
    for number in range(100):
        table.iloc[12 * number : 12 * (number + 1)].to_parquet(tmp_path / f"{number:03}.parquet")
    broken = tmp_path / "041.parquet"
    broken.write_bytes(broken.read_bytes()[:-20])
    with pytest.raises(FileDataError, match=r"041\.parquet"):
        suffice.summarize(tmp_path, target="kind", families=families)
    with pytest.warns(UserWarning, match=r"1 of 100 files could not be read:\n.*041\.parquet"):
        found = suffice.summarize(tmp_path, target="kind", families=families, on_error="skip")
    left = table.drop(index=table.index[12 * 41 : 12 * 42])
    assert found.isclose(suffice.summarize(left, target="kind", families=families))


def test_the_rows_before_the_damage_count(table, families, tmp_path):
    first, second = tmp_path / "1.csv.gz", tmp_path / "2.csv"
    text = table.to_csv(index=False).encode()
    first.write_bytes(gzip.compress(text)[:-40])
    second.write_bytes(text)
    with pytest.raises(FileDataError, match=r"1\.csv\.gz: the compressed data is damaged or truncated"):
        suffice.summarize([first, second], target="kind", families=families)
    with pytest.warns(UserWarning, match=r"1 of 2 files could not be read"):
        found = suffice.summarize([first, second], target="kind", families=families, on_error="skip")
    assert found.n_rows >= len(table)


def test_a_first_file_that_cannot_be_read_is_skipped_too(table, whole, families, tmp_path):
    (tmp_path / "0.parquet").write_bytes(b"PAR1")
    table.to_parquet(tmp_path / "1.parquet")
    with pytest.warns(UserWarning, match="1 of 2 files could not be read"):
        found = suffice.summarize(tmp_path, target="kind", families=families, on_error="skip")
    assert found.isclose(whole)


def test_dictionaries_orders_and_empty_files_may_differ(table, whole, families, tmp_path):
    first, second = table.iloc[:500], table.iloc[500:]
    first.astype({"town": "category"}).to_parquet(tmp_path / "1.parquet")
    table.iloc[:0].astype({"town": "category"}).to_parquet(tmp_path / "2.parquet")
    second[list(table.columns)[::-1]].astype({"town": "category"}).to_parquet(tmp_path / "3.parquet")
    assert suffice.summarize(tmp_path, target="kind", families=families).isclose(whole)


def test_a_csv_file_that_changes_type_after_many_rows_is_read_as_what_fits_all(tmp_path):
    lines = ["x,kind", *(f"{i % 9},{'ab'[i % 2]}" for i in range(300_000)), *("2.5,a" for _ in range(10))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    found = suffice.summarize(tmp_path / "t.csv", target="kind", families="normal")
    assert found.n_rows == 300_010


def test_the_command_line_skips_files_and_keeps_checkpoints(folder):
    (folder / "2.parquet").write_bytes(b"PAR1 and then nothing")
    command = [
        "-m",
        "suffice",
        "summarize",
        str(folder / "*.parquet"),
        "-y",
        "kind",
        "-o",
        str(folder / "s.suffice"),
    ]
    refused = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)  # noqa: S603, our own
    assert refused.returncode == 1
    assert "2.parquet" in refused.stderr
    more = ["--on-error", "skip", "--checkpoint", str(folder / "c.suffice")]
    done = subprocess.run([sys.executable, *command, *more], capture_output=True, text=True, check=True)  # noqa: S603, our own
    assert "1 of 4 files could not be read" in done.stderr
    assert suffice.load(folder / "s.suffice").n_rows == 900
    assert not (folder / "c.suffice").exists()
