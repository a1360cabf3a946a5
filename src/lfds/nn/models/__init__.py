"""The networks that poolings are compared in: base, pooling, head."""
