"""Pictures of a network: a digit on its way, any number opened, and what the network got wrong."""
