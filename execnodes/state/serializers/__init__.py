"""Serializers of user-defined accumulators, and the snapshots by which they judge what older ones have written."""
