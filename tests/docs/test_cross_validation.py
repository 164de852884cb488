def test_every_example_of_the_page_on_cross_validation_prints_what_it_shows(check_page):
    check_page("docs/cross-validation.md")
