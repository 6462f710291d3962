"""The version of the package; its build reads it here, too."""

VERSION = "1.0"
