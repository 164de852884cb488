def test_the_example_prints_what_the_readme_shows(check_page):
    check_page("README.md")


def test_the_examples_are_short(blocks):
    """The first shows our numbers beside those of a scikit-learn pipeline, which takes most of its lines."""
    first, second = (len(block.code.splitlines()) for block in blocks("README.md"))
    assert first <= 17
    assert second <= 12
