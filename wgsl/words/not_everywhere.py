"""Sentences about texts that some compilers or adapters take and others refuse, by the kind of the refusal."""

NOT_EVERYWHERE = {
    "swizzle assignment": (
        "Chrome takes an assignment to several components, and other compilers refuse it: assign one at a time"
    ),
    "immediate": "Chrome takes `immediate`, and other compilers refuse it: use a uniform",
    "builtin of browsers": "Chrome takes the builtin `{name}`, and other compilers refuse it",
    "buffer_view": "Chrome takes `{name}`, and other compilers refuse it",
    "size of a runtime-sized array": "browsers take no `@size` before an array without a length",
    "largest f32": "browsers refuse this number, which is above the largest f32: write `0x1.fffffep+127f`",
    "parameters": "`{name}` has {count:,} parameters, and browsers take at most {most:,}",
    "choices": "this `switch` has {count:,} values, and browsers take at most {most:,}",
    "NUL": "browsers take no NUL character (U+0000) in a text, not even in a comment",
    "brackets": "more than {most} brackets stand in each other, and browsers take no more",
    "statements": "more than {most} statements (an `else if` counts) stand in each other, and browsers take no more",
    "expression": "expression",
    "language feature of browsers": "Chrome takes `requires {name}`, and other compilers refuse it",
    "nested types": "more than {most} arrays and structs are in each other, and browsers take no more",
    "members": "`{name}` has {count:,} members, and browsers take at most {most:,}",
    "groups": "`{name}` is in group {group}: every adapter offers the groups 0 to {last}, and not more",
    "high binding": "the number of a binding is below {most:,} in browsers, and this is {number:,}",
    "buffers": "`{entry}` uses {count} {space} buffers: the limit here is {most}, which every adapter offers",
    "array of an override": "browsers refuse to assign a whole array whose length is an override: assign its elements",
    "uniform elements": (
        "in a uniform, an array's elements are a multiple of 16 bytes apart, and not {stride}, which only Chrome "
        "takes; write a struct with a member for each number"
    ),
    "uniform member behind": (
        "in a uniform, the member `{name}` must be 16 bytes or more behind `{before}`: only Chrome takes it as it is"
    ),
    "uniform member": (
        "in a uniform, the member `{name}` must be at a multiple of 16 bytes, and is at {offset}: only Chrome takes it"
    ),
    "texture of some adapters": "not every adapter has textures of the format `{format}` with the access `{access}`",
    "parameter that is stored to": (
        "not every compiler takes `textureStore` to a parameter (`{name}`); store to the texture by its own name"
    ),
    "too many threads": "{threads} threads in a workgroup: the limit here is {limit}, which every adapter offers",
    "too many threads in z": (
        "{threads} threads of a workgroup in z: the limit here is {limit}, which every adapter offers"
    ),
    "too many bytes": "{held:,} bytes of workgroup memory: the limit here is {limit:,}, which every adapter offers",
    "array too long": "`{type}` is too long: a thread has at most {limit:,} bytes of memory of its own here",
    "too many bytes of a thread": (
        "`{name}` is too long: a thread then has {held:,} bytes of {space} memory, and {limit:,} is the limit here"
    ),
}
