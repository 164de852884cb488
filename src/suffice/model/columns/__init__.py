"""Which columns there are, which family each has, and why."""
