"""Files: a tree of named values and arrays in one safetensors file, which cannot run code."""

from suffice.storage.fields import Fields, Scalars, Setting
from suffice.storage.format import SufficeFileError
from suffice.storage.saved import CLASSES, Path, Saved, read

__all__ = ["CLASSES", "Fields", "Path", "Saved", "Scalars", "Setting", "SufficeFileError", "read"]
