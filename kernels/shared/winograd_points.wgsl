// Along one axis, 4 outputs of a filter of 3 take 12 products, and so do 3 weights
// with 4 gradients. Winograd's method takes 6, as many as points at which two
// polynomials are multiplied by their values: 0, a, -a, b, -b and infinity (the
// highest coefficient). Two opposite points share their even and their odd terms.
// Any a and b are right; rounding errors with these are half as large as with 1
// and 2.
const NEAR: f32 = 0.625;  // a
const FAR: f32 = 1.5;     // b
const NEAR_2: f32 = NEAR * NEAR;
const FAR_2: f32 = FAR * FAR;
