"""The pictures themselves, which know a model only by its methods; `suffice.plots` is their public room."""
