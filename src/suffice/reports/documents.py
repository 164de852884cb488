"""A text model as JavaScript: a function that splits a document into words and adds up what each says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from suffice.estimators.text import TextClassifier
from suffice.export.javascript import literal
from suffice.factors.words.language import Language
from suffice.reports.words import packed

RUNTIME = r"""
const K = d.prior.length, zeros = () => new Float64Array(K);
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
const few = held => {
  if (held === null) return null;
  const values = new Float64Array(bytes(held.values));
  const codes = new (values.length < 65536 ? Uint16Array : Uint32Array)(bytes(held.codes));
  return i => values[codes[i]];
};
const beyond = few(d.beyond), idf = few(d.idf), word = few(d.word), stop = new Set(d.stop);
const Small = K < 256 ? Uint8Array : Uint16Array;
const classes = new Small(bytes(d.classes)), place = new Map(d.words.map((one, i) => [one, i]));
const ends = Uint32Array.from(new Small(bytes(d.lengths)));
for (let i = 1; i < ends.length; i++) ends[i] += ends[i - 1];
const terms = text => {
  const split = ((d.lowercase ? text.toLowerCase() : text).match(/[\p{L}\p{N}_]{2,}/gu) || []);
  const words = split.filter(one => !stop.has(one)), found = [];
  for (let n = d.ngrams[0]; n <= Math.min(d.ngrams[1], words.length); n++) {
    for (let i = 0; i + n <= words.length; i++) found.push(words.slice(i, i + n).join(" "));
  }
  return found;
};
const worth = n => d.tf === "log" ? Math.log1p(n) : d.tf === "binary" ? Math.min(n, 1) : n;
const softmax = scores => {
  const top = Math.max(...scores), e = Array.from(scores, s => Math.exp(s - top));
  return e.map(one => one / e.reduce((a, b) => a + b));
};
return ([text]) => {
  const counts = new Map(), said = [], rest = zeros(), score = Float64Array.from(d.prior);
  if (text === null || text === undefined) return {posterior: softmax(score), parts: [d.prior], said, rest};
  let unseen = 0, squares = 0;
  for (const term of terms(text)) {
    if (place.has(term)) counts.set(term, (counts.get(term) || 0) + 1); else unseen += 1;
  }
  for (const times of counts.values()) squares += worth(times) ** 2;
  const other = d.smooth ? worth(unseen) : 0, size = d.l2 ? Math.hypot(Math.sqrt(squares), other) || 1 : 1;
  for (const [term, times] of counts) {
    const i = place.get(term), x = (d.presence ? 1 : worth(times) / size) * (idf ? idf(i) : 1);
    const gains = Float64Array.from(d.each, one => one + (word ? word(i) : 0));
    for (let e = i ? ends[i - 1] : 0; e < ends[i]; e++) gains[classes[e]] += beyond(e);
    said.push([term, times, gains.map((one, k) => x * one * d.scale[k])]);
  }
  for (let k = 0; k < K; k++) {
    rest[k] = (d.none[k] + other / size * d.each[k]) * d.scale[k];
    score[k] += said.reduce((sum, one) => sum + one[2][k], 0) + rest[k];
  }
  return {posterior: softmax(score), parts: [d.prior], said, rest};
};
"""


def document_code(model: TextClassifier) -> str:
    """An expression whose value is a function of a document, as the first cell of a row."""
    language = model._language()  # noqa: SLF001  of this library
    problem = _problem(language)
    if problem is not None:
        raise ValueError(problem)
    family, scores, n_classes = language.family, language.term_scores, len(language.weight)
    beyond = sparse.csr_array(scores.beyond)
    small = np.uint8 if n_classes < 256 else np.uint16
    data = {
        "words": language.vocabulary.words_of(language.ids),
        "lengths": packed(np.diff(beyond.indptr), small),
        "classes": packed(beyond.indices, small),
        "beyond": _few(beyond.data),
        "idf": None if language.idf is None else _few(language.idf),
        "word": None if language.word is None else _few(language.word),
        "each": scores.default.tolist(),
        "none": scores.baseline.tolist(),
        "scale": (np.ones(n_classes) if language.scale is None else language.scale).tolist(),
        "prior": model._solved_model().offset.tolist(),  # noqa: SLF001
        "lowercase": language.analysis.lowercase,
        "stop": sorted(language.analysis.stop_set),
        "ngrams": list(language.analysis.ngram_range),
        "tf": family.tf,
        "l2": family.length == "l2" and family.event != "bernoulli",
        "presence": family.event == "bernoulli",
        "smooth": language.smooths_unseen,
    }
    return f"(() => {{ 'use strict'; const d = {literal(data)};{RUNTIME}}})()"


def _problem(language: Language) -> str | None:
    """Why a page does not split documents as the model does, if it does not."""
    analysis, family = language.analysis, language.family
    if analysis.analyzer != "word" or analysis.tokenizer is not None or analysis.strip_html:
        return "a page splits text into words, without a tokenizer of its own and without removing markup"
    if language.orders is not None:
        return "with alpha=0 a word rules classes out"
    if family.unseen == "error":
        return "the model refuses documents with words that it has not seen"
    if family.length == "l2" and language.n_words < len(language.row):
        return "with length='l2', words that the model leaves out count too, and the page does not know them"
    return None


def _few(values: ArrayLike) -> dict[str, Any]:
    """Numbers in full precision; each that differs from the others is written once."""
    distinct, codes = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
    width = np.uint16 if len(distinct) < 2**16 else np.uint32
    return {"values": packed(distinct, np.float64), "codes": packed(codes, width)}
