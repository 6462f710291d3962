"""Pictures of threads that add up: a race, a tree, who loads which number, and the sums of channels."""
