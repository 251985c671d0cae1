"""Files of ours: whole or not at all, JSON read strictly, paths as engines take them."""
