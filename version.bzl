"""The version of the library; CMakeLists.txt reads it here too."""

VERSION = "0.1.0"
