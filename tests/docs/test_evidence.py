def test_every_example_of_the_page_about_weighing_prints_what_it_shows(check_page):
    check_page("docs/evidence.md")
