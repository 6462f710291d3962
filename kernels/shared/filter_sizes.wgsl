// The layer's filters: the launcher writes their sizes in here, too.
const KERNEL_H: u32 = 3u;    // kH
const KERNEL_W: u32 = 3u;    // kW
const STRIDE_H: u32 = 1u;    // Sh
const STRIDE_W: u32 = 1u;    // Sw
const DILATION_H: u32 = 1u;  // Dh
const DILATION_W: u32 = 1u;  // Dw
const GROUPS: u32 = 1u;      // G
const GROUP_IN: u32 = IN_CHANNELS / GROUPS;  // channels of a group
const GROUP_OUT: u32 = OUT_CHANNELS / GROUPS;
