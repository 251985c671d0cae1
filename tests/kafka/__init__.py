"""Jobs with a Kafka broker on this machine, whose jars Maven brings."""
