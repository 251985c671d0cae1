"""What statements do: `execute`, a function a kind; `compile`, `evolution` and `upgrade` of plans; `show`."""
