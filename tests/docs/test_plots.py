import matplotlib as mpl

mpl.use("Agg")


def test_every_example_of_the_page_on_pictures_prints_what_it_shows(check_page):
    check_page("docs/plots.md")
