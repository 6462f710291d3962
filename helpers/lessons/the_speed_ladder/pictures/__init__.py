"""The pictures of the speed ladder."""
