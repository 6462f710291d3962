"""What is said of facts: nothing else in this package makes sentences, and nothing reads one."""
