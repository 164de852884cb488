"""Any container or file as columns, labels and weights."""
