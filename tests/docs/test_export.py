import pytest


def test_every_example_of_the_page_on_exports_prints_what_it_shows(check_page):
    for module in ("duckdb", "onnx", "onnxruntime"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    check_page("docs/export.md")
