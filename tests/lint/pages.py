"""Checks the pages. usage: pages.py REPOSITORY; prints each broken rule, exits 1 if any.

Every relative link of a tracked page leads to a file or folder that exists, and every anchor to a heading of it. A source
file that a page names as code exists. Every folder with sources has a README.md, or a page of a folder above it names it.
The first page stays short.
"""
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

FIRST_PAGE_LINES = 170
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
CODE = re.compile(r"^(?: {4}|\t).*$|`[^`\n]*`", re.M)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?)#*$", re.M)
SOURCES = {".h", ".cc", ".cu", ".cuh", ".proto"}
ROOTS = ("proto/", "server/", "client/", "trainer/")
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:")
NAMED_FILE = re.compile(r"`([\w./-]+\.(?:h|cc|cu|cuh|proto|py|sh|hex))`")


def anchors(text):
    """Of all headings, as GitHub makes them: the second heading of a name ends in -1."""
    found = {}
    for heading in HEADING.findall(FENCE.sub("", text)):
        name = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", name).replace(" ", "-")
        found[anchor] = found.get(anchor, -1) + 1
    return {f"{anchor}-{k}" if k else anchor for anchor, count in found.items() for k in range(count + 1)}


def links(text):
    # A link's text may be code.
    text = re.sub(r"\[`[^`\n]*`\]\(", "[](", FENCE.sub("", text))
    return [urllib.parse.unquote(link) for link in LINK.findall(CODE.sub("", text))]


def broken_links(root, page):
    for link in links((root / page).read_text()):
        if EXTERNAL.match(link):
            continue
        path, _, anchor = link.partition("#")
        target = pathlib.Path(os.path.normpath(root / page.parent / path)) if path else root / page
        if not target.is_relative_to(root) or not target.exists():
            yield f"{page}: {link} leads nowhere"
        elif anchor and (target.suffix != ".md" or anchor not in anchors(target.read_text())):
            yield f"{page}: {link} names no heading of {target.relative_to(root)}"


def missing_files(root, page, files):
    """Sources in code that are none: by a path from the page's folder or one above it, or by name alone. Of any kind of
    file a page may speak as `x.h`."""
    names = {file.name for file in files}
    for name in NAMED_FILE.findall(FENCE.sub("", (root / page).read_text())):
        if "/" not in name and (name in names or re.match(r"x[._]", name)):
            continue
        if not any((root / folder / name).exists() for folder in page.parents):
            yield f"{page}: `{name}` is no file"


def is_named(folder, page):
    """Whether `page` names a folder below it, in code or as a link."""
    path = re.escape(folder.relative_to(page.parent).as_posix())
    return re.search(rf"(?<=[`(]){path}/?(?=[`)])", page.read_text()) is not None


def folders_without_page(root, files):
    for folder in sorted({file.parent for file in files if file.suffix in SOURCES}):
        if not f"{folder.as_posix()}/".startswith(ROOTS) or (root / folder / "README.md").exists():
            continue
        pages = (root / above / "README.md" for above in folder.parents if above != pathlib.Path("."))
        if not any(page.exists() and is_named(root / folder, page) for page in pages):
            yield f"{folder}: has no README.md, and no page of a folder above it names it"


def main(root):
    root = pathlib.Path(root).resolve()
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout
    files = [pathlib.Path(name) for name in listed.split("\0") if name and (root / name).exists()]
    broken = [problem for file in files if file.suffix == ".md" for problem in broken_links(root, file)]
    broken += [problem for file in files if file.suffix == ".md" for problem in missing_files(root, file, files)]
    broken += folders_without_page(root, files)
    lines = len((root / "README.md").read_text().splitlines())
    if lines > FIRST_PAGE_LINES:
        broken.append(f"README.md: has {lines} lines, at most {FIRST_PAGE_LINES} are for a newcomer")
    print("\n".join(broken) or "links and pages hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
