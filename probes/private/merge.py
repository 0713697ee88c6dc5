"""Runs `cachetree_probes.merge` as a program: Bazel wants a file outside the package."""

from cachetree_probes.merge import main

if __name__ == "__main__":
    main()
