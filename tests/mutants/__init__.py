"""Seeded mutants: mistakes that a developer could make, each of which the tests must see.

- `mutants.toml`: the mistakes, each with its file, the text there and what stands in its place.
- `mutant.py` reads and checks them, `nearness.py` says which tests are near a file, `tree.py` is a copy of the tree in
  which one mistake is made at a time, `hunt.py` runs tests there until one fails, `results.py` keeps which one.
- `caught.json`: which test or program has caught which mutant.

``make mutants`` runs all of them, which takes hours; ``python -m tests.mutants ID…`` some. The working tree is only
read. A failure counts only if the same test passes in the copy without the mistake.
"""
