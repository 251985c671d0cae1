"""Jobs seen from outside their process: where they live, how they are, what they can be asked for."""
