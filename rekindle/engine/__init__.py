"""The engine of micro-batches.

`micro_batch` is the loop, and what it asks of sources and programs; `watermarks` are its arithmetic of time; `log` says
what is committed, and so what there is, by `differences` of positions; `store` is keyed state as columnar segments.
`program` is what it runs: `frames` of a graph, `host` runs operators in a task, which has the subtasks that
`key_groups` spread keys over, `native_fold` has Spark pre-aggregate. Its `intake` is a way to read the `inputs`, which
are `sources` that are read by position (`reading`: in the call of an operator), and `observed` counts what they give.
One of small micro-batches is `standing`: built once. `fed` has streams of Spark hand over their batches; `changes` lets
a query of the caller's run the job, by `change_source`, `change_reader` and `ending_reader`.
"""
