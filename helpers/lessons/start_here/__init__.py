"""The course as a whole: what its lessons say of themselves, what the reader has done, and the map of both."""
