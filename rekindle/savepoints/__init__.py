"""Savepoints: a job's state, positions and plan as a folder that can be moved, read by anyone, and started from.

The folder: `manifest`, `contents`, `folder` (whole or not at all), `key_groups`. `take` makes one of a checkpoint,
`segments` of the log of the engine of micro-batches; `restore` starts from one, which `recovery` chooses, with
`convert` for accumulators and `widen` for types, and `adoption` from the checkpoint of an earlier release. What a
`plan` says of states, and how they are `planned`. `reader` reads without Spark, as rows, as a `database`, as
`user_frames`, by `file_columns`; `exchange` with other files. `writer` makes one from another in a `workspace`, by
`migrations`; `verify` judges rows.
"""
