def test_the_page_on_reports_runs(check_page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_page("docs/report.md")
    assert (tmp_path / "report.html").exists()
