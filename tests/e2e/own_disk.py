"""Disks in memory, mounted for this process and what it starts alone, which can be filled."""
import ctypes
import os
import pathlib

NEW_MOUNTS, NEW_USERS = 0x00020000, 0x10000000
READ_ONLY, REMOUNT, RECURSIVE, PRIVATE = 1, 32, 0x4000, 1 << 18
libc = ctypes.CDLL(None, use_errno=True)


def enter_own_namespace():
    """Whether this process may mount, seen by itself and what it starts alone; before it has any thread."""
    user = os.getuid()
    if libc.unshare(NEW_MOUNTS) != 0:
        if libc.unshare(NEW_USERS | NEW_MOUNTS) != 0:
            return False
        pathlib.Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    return libc.mount(b"none", b"/", None, RECURSIVE | PRIVATE, None) == 0


def mount(folder, mebibytes, flags=0):
    """Whether `folder` is a disk of that size now; with REMOUNT, whether it has become what `flags` say."""
    return libc.mount(b"tmpfs", bytes(folder), b"tmpfs", flags, f"size={mebibytes}m".encode()) == 0


def unmount(folder):
    return libc.umount2(bytes(folder), 0) == 0


def fill(folder):
    """Takes all space that is left; returns the file that has it."""
    file = pathlib.Path(folder, "ballast")
    with open(file, "wb", buffering=0) as ballast:
        for piece in (1 << 20, 4096):
            try:
                while ballast.write(b"x" * piece) == piece:
                    pass
            except OSError:
                pass
    return file
