"""All flights from New York City in 2013 as a stream: a job that is killed half-way, goes on, and is checked."""
