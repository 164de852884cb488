"""Formulas become MathML when the site is built: browsers draw it without a script or a font of ours."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def mathml(formula: str, display: str) -> str:
    """Convert a formula; a code host knows `aligned`, the converter knows the same as `align*`."""
    converted = convert(formula.replace("{aligned}", "{align*}"), display=display)
    converted = converted.replace(r">\{<", ">{<").replace(r">\}<", ">}<")  # large braces
    if "\\" in converted:
        raise ValueError(f"A formula uses a command that cannot be converted: {formula}")
    return converted


def inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    # A formula wider than a phone scrolls by itself, by keyboard too.
    translator.body.append(f'<div class="formula" tabindex="0">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
