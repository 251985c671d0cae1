"""Tests of query evolution and plan migration."""
