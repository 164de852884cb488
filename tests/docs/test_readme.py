def test_the_example_prints_what_the_readme_shows(check_page):
    check_page("README.md")


def test_the_example_has_at_most_twelve_lines(blocks):
    example, *others = blocks("README.md")
    assert len(example.code.splitlines()) <= 12
    assert [len(other.code.splitlines()) for other in others] == [3]  # the best probabilities
