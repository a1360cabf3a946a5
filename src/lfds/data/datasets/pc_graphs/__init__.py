"""PC Graphs: random shapes of eight classes, generated as point clouds."""
