"""What an earlier version of the programs wrote, and what it printed of it: tests/data/stored/README.md."""
import json
import pathlib
import shutil
import tempfile

from harness import DATA

STORED = DATA / "stored"


def unpacked(test, *names):
    """A directory for data nodes with the archives `names` unpacked, gone with `test`."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    for name in names:
        shutil.unpack_archive(STORED / f"{name}.tar.gz", folder.name)
    return pathlib.Path(folder.name)


def printed():
    """By kind, command lines with what they printed: `json`, `text`, and `training`, of which there is one."""
    return json.loads((STORED / "printed.json").read_text())
