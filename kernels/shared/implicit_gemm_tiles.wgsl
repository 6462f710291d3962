const A_EVERY: u32 = THREADS / A_VEC4S;    // from one k of a thread to its next
const B_EVERY: u32 = THREADS / B_VEC4S;
const TAP_STEPS = max(RUN / TILE_K, 1u);
const GROUP_VEC4S: u32 = ROW_TILES * A_VEC4S;  // of one k of a group
const M_VEC4S: u32 = GROUPS * GROUP_VEC4S;     // of one k in weights_by_k

var<workgroup> left: array<array<vec4f, A_VEC4S>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_VEC4S>, TILE_K>;
