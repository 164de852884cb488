"""Files: a tree of named values and arrays, written as one safetensors file that cannot run code."""

from suffice.archive.fields import Fields, Path, Scalars, Setting, read
from suffice.archive.layout import SufficeFileError
from suffice.archive.saving import CLASSES, Saved

__all__ = ["CLASSES", "Fields", "Path", "Saved", "Scalars", "Setting", "SufficeFileError", "read"]
