"""The functions, types and values of C, CUDA, GLSL, HLSL, Metal, JavaScript, Rust and Python, in WGSL."""

SCALARS = {
    **dict.fromkeys(["int", "short", "long", "char", "byte", "i32", "i8", "i16", "isize", "int32_t"], "i32"),
    **dict.fromkeys(["uint", "size_t", "uint32_t", "u32", "unsigned", "usize", "u8", "ushort", "uchar"], "u32"),
    **dict.fromkeys(["float", "double", "half", "f32", "number", "real"], "f32"),
    **dict.fromkeys(["bool", "boolean"], "bool"),
}
C_TYPES = {
    **SCALARS,
    **{f"{name}{size}": f"vec{size}{name[0]}" for name in ("float", "uint", "int") for size in (2, 3, 4)},
    **{f"{name}vec{size}": f"vec{size}{name}" for name in ("i", "u") for size in (2, 3, 4)},
    **{f"vec{size}": f"vec{size}f" for size in (2, 3, 4)},
    **{f"mat{size}": f"mat{size}x{size}f" for size in (2, 3, 4)},
    **{f"float{size}x{size}": f"mat{size}x{size}f" for size in (2, 3, 4)},
    "auto": "",
}
FUNCTIONS = {  # a call: its name in WGSL, or what stands in its place, of its arguments
    **dict.fromkeys(["rsqrt", "rsqrtf", "inversesqrt"], "inverseSqrt"),
    **dict.fromkeys(["mod", "fmod", "fmodf", "remainder"], "{0} % {1}"),
    **dict.fromkeys(["sqr", "square"], "{0} * {0}"),
    **dict.fromkeys(["rcp", "recip", "reciprocal"], "1.0 / {0}"),
    **dict.fromkeys(["asfloat", "uintBitsToFloat", "intBitsToFloat"], "bitcast<f32>"),
    **dict.fromkeys(["__uint_as_float", "__int_as_float"], "bitcast<f32>"),
    **dict.fromkeys(["asuint", "floatBitsToUint", "__float_as_uint"], "bitcast<u32>"),
    **dict.fromkeys(["asint", "floatBitsToInt", "__float_as_int"], "bitcast<i32>"),
    **dict.fromkeys(["minimum", "amin"], "min"),
    **dict.fromkeys(["maximum", "amax"], "max"),
    **dict.fromkeys(["fmax", "fmaxf"], "max"),
    **dict.fromkeys(["fmin", "fminf"], "min"),
    **dict.fromkeys(["fabs", "absolute"], "abs"),
    **dict.fromkeys(["power", "powi", "powf"], "pow"),
    **dict.fromkeys(["expf", "__expf"], "exp"),
    **dict.fromkeys(["ln", "logf", "__logf"], "log"),
    "log10": "log({0}) / log(10.0)",
    "lerp": "mix",
    "frac": "fract",
    "clip": "clamp",
    "mad": "fma",
    "mul": "{0} * {1}",
    "relu": "max({0}, 0.0)",
    "sigmoid": "1.0 / (1.0 + exp(-{0}))",
    "dFdx": "dpdx",
    "dFdy": "dpdy",
    "where": "select({2}, {1}, {0})",
    **dict.fromkeys(["__popc", "popcount", "bitCount"], "countOneBits"),
    **dict.fromkeys(["__clz", "clz"], "countLeadingZeros"),
    **dict.fromkeys(["parseInt", "trunc_i32"], "i32"),
    **dict.fromkeys(["Number", "parseFloat"], "f32"),
    **dict.fromkeys(["InterlockedAdd", "atomic_fetch_add_explicit"], "atomicAdd"),
    "InterlockedMax": "atomicMax",
    "InterlockedMin": "atomicMin",
    "atomicCAS": "atomicCompareExchangeWeak",
}
BARRIERS_OF_OTHERS = (
    "GroupMemoryBarrierWithGroupSync", "AllMemoryBarrierWithGroupSync", "memoryBarrierShared", "groupMemoryBarrier",
    "__syncwarp", "wait", "barrier", "sync", "syncthreads",
)  # fmt: skip
LARGEST_F32 = "3.40282347e+38"
VALUES = {
    **dict.fromkeys(["PI", "M_PI", "pi"], "3.14159265"),
    **dict.fromkeys(["INFINITY", "FLT_MAX", "inf", "Infinity", "infinity", "HUGE_VALF"], LARGEST_F32),
    "UINT_MAX": "4294967295u",
    "INT_MAX": "2147483647",
    "TRUE": "true",
    "FALSE": "false",
    "True": "true",
    "False": "false",
}
NOTHING = ("None", "null", "NULL", "nullptr", "nil", "undefined", "void")
NO_NAN = ("NaN", "NAN", "nan")
BUILTINS = {  # the ids of CUDA, Metal, GLSL, HLSL and OpenCL
    "threadIdx": "local_invocation_id",
    "blockIdx": "workgroup_id",
    "gridDim": "num_workgroups",
    "thread_position_in_grid": "global_invocation_id",
    "thread_position_in_threadgroup": "local_invocation_id",
    "threadgroup_position_in_grid": "workgroup_id",
    "threadgroups_per_grid": "num_workgroups",
    "thread_index_in_threadgroup": "local_invocation_index",
    "gl_GlobalInvocationID": "global_invocation_id",
    "gl_LocalInvocationID": "local_invocation_id",
    "gl_LocalInvocationIndex": "local_invocation_index",
    "gl_WorkGroupID": "workgroup_id",
    "gl_NumWorkGroups": "num_workgroups",
    "SV_DispatchThreadID": "global_invocation_id",
    "SV_GroupThreadID": "local_invocation_id",
    "SV_GroupIndex": "local_invocation_index",
    "SV_GroupID": "workgroup_id",
    "get_global_id": "global_invocation_id",
    "get_local_id": "local_invocation_id",
    "get_group_id": "workgroup_id",
    "get_num_groups": "num_workgroups",
}
WORKGROUP_SIZES = ("blockDim", "gl_WorkGroupSize", "get_local_size", "threads_per_threadgroup")
PREFIXES = "Math|math|np|numpy|torch|F|std|metal|jnp|tf|cmath|glm|f32|f64|fast|precise"  # of functions, before a point
ADDRESS_SPACES = {
    **dict.fromkeys(["shared", "groupshared", "threadgroup", "local", "__shared__", "__local"], "workgroup"),
    **dict.fromkeys(["constant", "push_constant"], "uniform"),
    **dict.fromkeys(["device", "buffer", "global"], "storage"),
    "thread": "private",
}
