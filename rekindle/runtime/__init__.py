"""Jobs that run: `assemble` from a plan and a folder, the life of a `job`, its kinds `stream_job` and `batch_job`.

`attendant` speaks with other processes and tells `progress`, `restarts` decide after a failure; `bootstrap` makes state
for new operators. A `cluster_guard` asks whether executors have each `shared_folder`, and its `watchdog` whether there
are any. A source that is `undrained` does not end its job.
"""
