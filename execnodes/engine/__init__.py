"""What runs stateful operators in Spark: the one `processor`, the `host` of a stage in it, frames and packed rows."""
