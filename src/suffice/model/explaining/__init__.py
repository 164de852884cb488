"""What cells, columns and words say about the classes, in nats."""
