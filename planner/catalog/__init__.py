"""What a session knows by name: `catalogs`, each in a `store`, with the `user_functions` in it, and the `modules` whose
functions it knows.
"""
