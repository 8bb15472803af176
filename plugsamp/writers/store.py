"""A folder whose tokens are mapped, not read (`plugsamp.store`): keeps everything."""

from __future__ import annotations

from plugsamp.errors import InputError
from plugsamp.files.storage import StorageError
from plugsamp.store import write_store
from plugsamp.writers import Target, Written

KEEPS = ("covariates", "fields", "weights")
FOLDER = True


def write(corpus, target: Target) -> Written:
    try:
        return Written(files=[write_store(target.path, corpus, target.overwrite)])
    except StorageError as error:
        raise InputError(str(error)) from None
