"""The flags of WebGPU, with the numbers that its specification gives them."""

from enum import IntFlag


class BufferUsage(IntFlag):
    """What a buffer may be used for."""

    MAP_READ = 1
    COPY_SRC = 4
    COPY_DST = 8
    UNIFORM = 64
    STORAGE = 128
    QUERY_RESOLVE = 512


class MapMode(IntFlag):
    """Why a buffer is mapped."""

    READ = 1


class ShaderStage(IntFlag):
    """Which programs see a binding."""

    COMPUTE = 4
