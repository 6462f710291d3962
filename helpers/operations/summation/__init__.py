"""How threads add up one long sum: orders, trees, races and rounding errors."""
