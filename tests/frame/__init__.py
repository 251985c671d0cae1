"""Tests of what stands around the engine."""
