"""The atlas: where the nodes of graphs land on the latent structure of a fitted classifier."""
