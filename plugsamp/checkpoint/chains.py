"""A chain by itself as a folder."""

from __future__ import annotations

from pathlib import Path

from plugsamp.checkpoint.identity import chain_identity, check_same, check_surroundings, surroundings
from plugsamp.checkpoint.snapshot import capture_chain, restore_chain
from plugsamp.files.storage import StorageError, read_folder, write_folder

KIND = "chain"


def save_chain(chain, path, overwrite: bool = False) -> Path:
    """Write what `load_chain` needs to put another chain where this one is."""
    arrays, content = capture_chain(chain)
    content |= {"identity": chain_identity(chain), "made_with": surroundings(chain)}
    return write_folder(path, KIND, arrays, content, overwrite)


def load_chain(chain, path) -> None:
    """Put a chain where the saved one was.

    Raises
    ------
    StorageError
    """
    arrays, content = read_folder(path, KIND)
    try:
        check_surroundings(content["made_with"], path)
        check_same(content["identity"], chain_identity(chain), path)
        restore_chain(chain, arrays, content)
    except KeyError as error:
        raise StorageError(f"{path} is incomplete: it lacks {error}") from None
