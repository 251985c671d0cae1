"""Spark data sources that connectors are made of; imported only when a connector opens."""
