"""Tests of compiled plans."""
