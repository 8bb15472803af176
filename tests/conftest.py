import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with public corpora and cases, which are not part of the repository."""
    folder = Path(os.environ.get("PLUGSAMP_SHARED", Path(__file__).parents[1] / ".." / "shared")).resolve()
    if not folder.is_dir():
        pytest.skip(f"no shared folder at {folder} (set PLUGSAMP_SHARED)")
    return folder
