"""Objects on their way to another process: arrays in shared memory or in files are named, not copied."""

from __future__ import annotations

import io
import pickle

import cloudpickle
import numpy as np

from plugsamp.backends.shared import AttachedArena, Place, SharedArena
from plugsamp.system.arena import map_again, place_in_file


class _Pickler(cloudpickle.Pickler):
    """Classes of the user's script or notebook go by value, so that workers need not run it."""

    def __init__(self, file, arena: SharedArena):
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._arena = arena

    def persistent_id(self, obj):
        if not isinstance(obj, np.ndarray) or obj.dtype.hasobject:
            return None
        place = self._arena.place_of(obj)
        if place is not None:
            return place
        return place_in_file(obj) if obj.size and obj.flags.c_contiguous else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, arena: AttachedArena):
        super().__init__(file)
        self._arena = arena

    def persistent_load(self, pid):
        if isinstance(pid, Place):
            return self._arena.at(pid)
        return map_again(pid)


def packed(obj, arena: SharedArena) -> bytes:
    """An object as bytes."""
    file = io.BytesIO()
    _Pickler(file, arena).dump(obj)
    return file.getvalue()


def unpacked(data: bytes, arena: AttachedArena):
    """The object of `packed`, in another process."""
    return _Unpickler(io.BytesIO(data), arena).load()
