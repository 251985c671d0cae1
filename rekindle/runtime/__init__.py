"""How a graph runs: session, pipeline of stages, job, recovery."""
