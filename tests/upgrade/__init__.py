"""Upgrades between releases: each runs from its own wheel, in a process of its own."""
