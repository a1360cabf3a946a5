"""The atlas: on which slots of a latent structure the nodes of graphs land."""
