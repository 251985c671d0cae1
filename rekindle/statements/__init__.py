"""What statements do: `execute`, a function a kind; `compile`, `evolution` and `migration` of plans; `show`."""
