"""How Sphinx builds the site from these pages: `make docs`."""

import sys
from pathlib import Path

import suffice

sys.path.insert(0, str(Path(__file__).parent / "_site"))  # extensions of our own

project = "suffice"
author = "The suffice developers"
project_copyright = author
version = release = suffice.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "calls",
    "mathml",
    "members",
    "root_pages",
]
exclude_patterns = ["_build", "_site"]
templates_path = ["_site/templates"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4  # named as a code host names them

default_role = "code"  # `coef_` in a docstring is code
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say what a parameter may be
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # autodoc shows them

html_theme = "furo"
html_title = f"suffice {release}"
html_math_renderer = "mathml"
html_static_path = ["_site/static"]
html_css_files = ["suffice.css"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "  # what is copied runs
copybutton_prompt_is_regexp = True
