"""Names and order of releases, hubs and wheels: pure functions, tested in //tests/requirements."""

def release_key(version):
    """Sorts releases: `4.9.0` before `4.51.0`.

    Args:
        version: a release, numbers with dots.

    Returns:
        A list of integers; what is not a number counts as -1.
    """
    return [int(part) if part.isdigit() else -1 for part in version.split(".")]

def hub_name(version):
    """The repository of a release's hub: `transformers_4_51_0`.

    Args:
        version: such as `4.51.0`.

    Returns:
        The repository's name.
    """
    return "transformers_" + version.replace(".", "_")

def wheel_name(requirement):
    """The repository of a wheel; equal for locks that pin the same files.

    Args:
        requirement: a requirement from `parse_lock`.

    Returns:
        Name, version and a digest of the locked hashes: `whl_six_1_17_0_1f2e3d4c`.
    """
    version = "".join([c if c.isalnum() else "_" for c in requirement.version.elems()])
    digest = hash(" ".join([requirement.marker] + requirement.hashes)) % 4294967296
    return "whl_%s_%s_%x" % (requirement.name, version, digest)

def requirement_line(requirement):
    """A requirement as one line for pip.

    Args:
        requirement: a requirement from `parse_lock`.

    Returns:
        `NAME==VERSION [; MARKER] --hash=...`.
    """
    return " ".join(
        ["%s==%s" % (requirement.name, requirement.version)] +
        (["; " + requirement.marker] if requirement.marker else []) +
        ["--hash=" + digest for digest in requirement.hashes],
    )

def check_release(place, version, lock):
    """Checks that a lock pins the release that its name says.

    Args:
        place: where the lock is.
        version: the release that its name says.
        lock: the parsed lock.

    Returns:
        A message, or None.
    """
    pinned = lock.requirements.get("transformers")
    if pinned and pinned.version == version:
        return None
    return "%s pins %s.\n  expected: transformers==%s, as the file's name says\n  to do:    rename it, or remake it: bazel run //requirements:lock -- %s" % (
        place,
        "transformers==" + pinned.version if pinned else "no transformers",
        version,
        version,
    )

def check_hub(name, named):
    """Checks that a hub of hubs has releases, and one lock for each.

    Args:
        name: the hub of hubs.
        named: list of (version, where the lock is).

    Returns:
        A message, or None.
    """
    if not named:
        return "the hub %s is empty: there is no lock.\n  to do:    bazel run //requirements:lock -- VERSION" % name
    seen = {}
    for version, place in named:
        if version in seen:
            return "two locks for transformers %s: %s and %s.\n  to do:    keep one" % (version, seen[version], place)
        seen[version] = place
    return None

def closures(requirements):
    """What each requirement needs, following the lock's `# via` comments.

    Args:
        requirements: `parse_lock(...).requirements`.

    Returns:
        Dict of name to a sorted list: itself and all that it requires, directly or not.
    """
    direct = {name: [] for name in requirements}
    for requirement in requirements.values():
        for parent in requirement.via:
            if parent in direct:
                direct[parent].append(requirement.name)
    return {name: _reachable(name, direct) for name in requirements}

def _reachable(start, direct):
    reached = {start: None}
    queue = [start]

    # Starlark has no while loop; each name enters the queue once.
    for _ in direct:
        if not queue:
            break
        for need in direct[queue.pop()]:
            if need not in reached:
                reached[need] = None
                queue.append(need)
    return sorted(reached)
