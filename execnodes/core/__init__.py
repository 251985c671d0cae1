"""What every node is made of: identity, metadata, uid, types, expressions, changelog, options, errors, meaning."""
