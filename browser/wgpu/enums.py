"""The flags of WebGPU, with the numbers that its specification gives them."""

from enum import IntFlag


class BufferUsage(IntFlag):
    """The uses of a buffer."""

    MAP_READ = 1
    COPY_SRC = 4
    COPY_DST = 8
    UNIFORM = 64
    STORAGE = 128
    QUERY_RESOLVE = 512


class MapMode(IntFlag):
    """The purpose for which a buffer is mapped."""

    READ = 1


class ShaderStage(IntFlag):
    """The programs that see a binding."""

    COMPUTE = 4
