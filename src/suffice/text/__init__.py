"""Tokenise and count; vocabularies that grow and merge."""

from suffice.text.analysis import Analysis
from suffice.text.counting import count
from suffice.text.documents import Documents, TermCounts, read_documents
from suffice.text.spans import place_terms, words_end
from suffice.text.vocabulary import Vocabulary

__all__ = [
    "Analysis",
    "Documents",
    "TermCounts",
    "Vocabulary",
    "count",
    "place_terms",
    "read_documents",
    "words_end",
]
