"""Mechanics every node shares: identity, metadata, uid, types, expressions, changelog, lowering."""
