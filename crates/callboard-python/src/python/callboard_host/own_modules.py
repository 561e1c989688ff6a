"""The modules that a character's file has imported from its folder, and their text.

A zygote that is started again runs the text that the first one has read, whatever the folder contains by then.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any

from callboard_host.imports import imported_since

if TYPE_CHECKING:
    import types

    # A module's path and text, by name.
    Texts = dict[str, list[str]]

# A folder may contain installed packages; more than this is read again.
_MAX_TEXT = 4 << 20

# The name under which the character's own file is imported.
CHARACTER_MODULE = "callboard_character"


class _KeptText(SourceFileLoader):
    """Loads a module from a text that was read before."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> types.CodeType | None:
        code: types.CodeType = compile(self.text, self.path, "exec", dont_inherit=True)
        return code


class _KeptTexts:
    """Finds the modules whose text was read before."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        if name not in self._texts:
            return None
        path, text = self._texts[name]
        return importlib.util.spec_from_file_location(name, path, loader=_KeptText(name, path, text))


def import_from(texts: Texts) -> None:
    """Has these modules imported with these texts."""
    if texts:
        sys.meta_path.insert(0, _KeptTexts(texts))


def own_modules(folder: str) -> list[Any]:
    """The imported modules of a folder."""
    beginning = os.path.join(folder, "")
    return [module for module in imported_since().values() if is_below(module, beginning)]


def is_below(module: Any, beginning: str) -> bool:
    return str(getattr(module, "__file__", None)).startswith(beginning)


def text_of(module: Any) -> str:
    """A module's text. Raises some exception where there is none."""
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    if isinstance(loader, _KeptText):
        return loader.text
    with open(module.__file__, "rb") as file:
        return importlib.util.decode_source(file.read())


def texts_of(modules: list[Any]) -> Texts:
    """The texts of imported modules, as far as they are not too long."""
    texts: Texts = {}
    left = _MAX_TEXT
    for module in modules:
        spec: Any = getattr(module, "__spec__", None)
        if isinstance(getattr(spec, "loader", None), SourceFileLoader):
            try:
                text = text_of(module)
            except Exception:
                continue
            left -= len(text)
            if left >= 0:
                texts[spec.name] = [module.__file__, text]
    return texts
