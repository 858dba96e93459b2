"""Checks that the manual explains each reason of a refusal. usage: refusal_reasons.py REPOSITORY; prints each broken rule,
exits 1 if any.

Reasons are the texts that Refusal() and RefusedWhole() take as such in client/ingest, those that a source gives a function
of its own whose parameter `reason` goes there, and the constants of refusal_reason in server/records. The manual has each of
them, and no others, in the first column of the tables of its section on reasons; FIELD_x stands for reasons that begin with
a field.
"""
import pathlib
import re
import sys

MANUAL = "deploy/OPERATIONS.md"
HEADING = "### Reasons of refusals"
TEXT = re.compile(r'"([a-z0-9_]+)"')
DEFINITION = re.compile(r"(\w+)(?: = \[\w*\])?\(([^()]*\breason\b[^()]*)\)")
CONSTANT = re.compile(r'\bk\w+ = "([a-z0-9_]+)"')
# What makes a refusal, and which of its arguments is the reason.
MAKERS = {"Refusal": 0, "RefusedWhole": 1}
# Reasons that come from elsewhere: of the server's checks, and as a status had it.
ELSEWHERE = {"refusal.reason", "ReasonOf(refusal)"}


def arguments(text, begin):
    """Of a call whose bracket opened before `begin`."""
    found, depth, quoted, start = [], 0, False, begin
    for at in range(begin, len(text)):
        char = text[at]
        if char == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif char in "({[":
            depth += 1
        elif char in ")}]" and depth > 0:
            depth -= 1
        elif char in ",)" and depth == 0:
            found.append(text[start:at].strip())
            start = at + 1
            if char == ")":
                return found
    return found


def calls(text, name):
    return [arguments(text, call.end()) for call in re.finditer(rf"\b{name}\(", text)]


def reasons_in(argument):
    return {"FIELD" + word if word.startswith("_") else word for word in TEXT.findall(argument)}


def reasons_of(text):
    """Those that a source gives, and the arguments in the place of a reason that tell none."""
    found, unknown = set(), set()
    is_of_maker = any(name in MAKERS for name, _ in DEFINITION.findall(text))
    for argument in (call[place] for name, place in MAKERS.items() for call in calls(text, name)):
        if reasons_in(argument):
            found |= reasons_in(argument)
        elif argument == "reason":
            passed = {word for given in passed_on(text) for word in reasons_in(given)}
            found |= passed
            unknown |= set() if passed or is_of_maker else {argument}
        elif argument not in ELSEWHERE and not argument.startswith("std::string_view"):
            unknown.add(argument)
    return found, unknown


def passed_on(text):
    """What a source's own functions are given as `reason`."""
    for name, parameters in DEFINITION.findall(text):
        place = next(k for k, parameter in enumerate(parameters.split(",")) if re.search(r"\breason$", parameter.strip()))
        yield from (call[place] for call in calls(text, name) if place < len(call))


def reasons_of_server(root):
    text = (root / "server/records/graph_validator.h").read_text()
    return set(CONSTANT.findall(text[text.index("namespace refusal_reason"):]))


def explained(root):
    """What the manual's section has in the first columns of its tables."""
    _, _, behind = (root / MANUAL).read_text().partition(HEADING)
    section = re.split(r"^##", behind, maxsplit=1, flags=re.M)[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [word for cell in cells for word in re.findall(r"`(\w+)`", cell)]


def main(root):
    root = pathlib.Path(root)
    given, broken = reasons_of_server(root), []
    for source in sorted((root / "client/ingest").rglob("*.cc")):
        found, unknown = reasons_of(source.read_text())
        given |= found
        broken += [f"{source.relative_to(root)}: a refusal with {argument} tells no reason" for argument in sorted(unknown)]
    names = explained(root)
    broken += [f"{MANUAL}: does not explain the reason {reason}" for reason in sorted(given - set(names))]
    broken += [f"{MANUAL}: explains {reason}, which is no reason" for reason in sorted(set(names) - given)]
    broken += [f"{MANUAL}: explains {reason} twice" for reason in sorted({name for name in names if names.count(name) > 1})]
    print("\n".join(broken) or f"{len(given)} reasons of refusals are explained")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
