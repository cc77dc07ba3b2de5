"""The version of the library; CMakeLists.txt reads it here too."""

VERSION = "1.0.0"
