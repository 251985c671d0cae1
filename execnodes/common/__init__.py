"""What nodes of several folders share: all batch nodes, calcs of all kinds, UNNEST of streams and of batch."""
