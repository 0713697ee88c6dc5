"""Reads lock files: requirements pinned by `==`, each with hashes, as pip-compile writes them."""

_EXPECTED = "expected: NAME==VERSION --hash=sha256:..., as `pip-compile --generate-hashes` writes it"

def normalize(name):
    """The normalized name of a distribution (PEP 503), as a label: `Typing.Extensions` is `typing_extensions`.

    Args:
        name: a distribution's name.

    Returns:
        The name in lower case, each run of `-`, `_` and `.` as one `_`.
    """
    words = name.lower().replace("-", "_").replace(".", "_").split("_")
    return "_".join([word for word in words if word])

def lock_version(basename):
    """The transformers release that a lock file's name says.

    Args:
        basename: such as `transformers_4_51_0.txt`.

    Returns:
        Such as `4.51.0`; None where the name is not a release's.
    """
    stem = basename.removesuffix(".txt")
    parts = stem.removeprefix("transformers_").split("_")
    if stem == basename or len(parts) < 3 or not stem.startswith("transformers_"):
        return None
    if [part for part in parts[:3] if not part.isdigit()]:
        return None
    return ".".join(parts)

def parse_lock(path, text):
    """Parses a lock file.

    Args:
        path: what messages call the file.
        text: the file's content.

    Returns:
        A struct: `requirements` (dict of normalized name to a struct of `name`, `version`, `marker`,
        `hashes` (sorted) and `via` (normalized names of what requires it)), `yanked` (why the index
        withdrew the release, else None), and `error` (a message that names file and line, else None).
    """
    requirements = {}
    yanked = None
    entry = ""
    start = 0
    current = None
    for index, raw in enumerate(text.split("\n")):
        line = raw.strip()
        if line.startswith("#"):
            comment = line[1:].strip()
            if comment.startswith("yanked:"):
                yanked = comment.removeprefix("yanked:").strip()
            elif current:
                current.via.extend(_via(comment))
            continue
        if not line:
            continue
        start = start if entry else index + 1
        entry += " " + line.removesuffix("\\").strip()
        if line.endswith("\\"):
            continue
        current, error = _requirement(entry)
        entry = ""
        if error:
            return _error(path, start, error)
        if current.name in requirements:
            return _error(path, start, "%s is pinned twice\n  to do:    keep one line" % current.name)
        requirements[current.name] = current
    if entry:
        return _error(path, start, "the file ends inside a requirement\n  found:    %s\n  %s" % (entry.strip(), _EXPECTED))
    if not requirements:
        return _error(path, 1, "no requirement\n  %s" % _EXPECTED)
    return struct(requirements = requirements, yanked = yanked, error = None)

def _error(path, line, message):
    return struct(requirements = {}, yanked = None, error = "%s:%d: %s" % (path, line, message))

def _via(comment):
    """The names in a `# via` comment; `-r file` and prose give none."""
    words = [word for word in comment.removeprefix("via").split(" ") if word]
    return [normalize(words[0])] if len(words) == 1 and not words[0].startswith("-") else []

def _requirement(entry):
    """Parses one joined entry into (requirement, error)."""
    words = [word for word in entry.split(" ") if word]
    hashes = [word.removeprefix("--hash=") for word in words if word.startswith("--hash=")]
    pin, _, marker = " ".join([word for word in words if not word.startswith("--hash=")]).partition(";")
    name, equal, version = pin.strip().partition("==")
    name = name.partition("[")[0].strip()
    version = version.strip()
    if not equal or not name or not version or _has_any(name + version, " <>=~!@/*,"):
        return None, "not a pinned requirement\n  found:    %s\n  %s" % (entry.strip(), _EXPECTED)
    if not hashes:
        return None, "%s==%s has no hash\n  %s\n  to do:    bazel run //requirements:lock" % (name, version, _EXPECTED)
    for digest in hashes:
        if not digest.startswith("sha256:") or len(digest) != 71:
            return None, "%s==%s has a hash that is not sha256\n  found:    %s\n  %s" % (name, version, digest, _EXPECTED)
    return struct(
        name = normalize(name),
        version = version,
        marker = marker.strip(),
        hashes = sorted({digest: None for digest in hashes}),
        via = [],
    ), None

def _has_any(text, characters):
    return bool([c for c in characters.elems() if c in text])
