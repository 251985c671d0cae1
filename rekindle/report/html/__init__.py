"""One HTML file that needs nothing else: no server, no network, and no script to be read."""
