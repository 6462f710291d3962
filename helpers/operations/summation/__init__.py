"""The summation of one long list: its sizes, right answers, versions and their choice."""
