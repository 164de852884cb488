"""Code in a page that names something public links to its reference: `GaussianDiscriminant.boundary`."""

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx

CALL = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?", re.DOTALL)
SPACES = ("suffice.", "suffice.families.")


def around(node: nodes.Node) -> Iterator[nodes.Node]:
    """What a node stands in, from the inside out."""
    while node.parent is not None:
        node = node.parent
        yield node


def link(app: Sphinx, page: nodes.document, name: str) -> None:
    """Link the literals of a page; where two things have the same name, the first of the spaces has it."""
    if name.startswith("reference/"):
        return
    objects = app.env.domains["py"].objects  # type: ignore[attr-defined]
    for literal in list(page.findall(nodes.literal)):
        called = CALL.fullmatch(literal.astext())
        if called is None or any(isinstance(one, (nodes.reference, nodes.title)) for one in around(literal)):
            continue
        names = (called[1], called[1].rpartition(".")[0])  # an attribute is described with its class
        known = (space + one for one in names for space in ("", *SPACES) if one)
        full = next((one for one in known if one in objects), None)
        if full is not None:
            where = objects[full]
            uri = f"{app.builder.get_relative_uri(name, where.docname)}#{where.node_id}"
            reference = nodes.reference("", "", internal=True, refuri=uri)
            literal.replace_self(reference)
            reference += literal


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
