"""What a session knows by name: `catalogs`, each in a `store`, and the `modules` whose functions it knows."""
