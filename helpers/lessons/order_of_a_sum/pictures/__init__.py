"""Pictures of appendix E: ones that one thread loses, four numbers in any order, and how far sums are off."""
