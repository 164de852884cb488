def test_every_example_of_the_page_on_engines_prints_what_it_shows(check_page):
    check_page("docs/engines.md")
