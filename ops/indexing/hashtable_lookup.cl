// found[l] = the first k with keys[k] = lookups[l], -1 if there is none;
// hits[l] = found[l] >= 0.
// One work-item looks one up.
//
// -DIN0=I32 -DIN1=I32 -DOUT=I32  types of lookups, keys and hits
// (kernels/elements.clh)

#include "kernels/elements16.clh"

#ifndef IN0
#define IN0 I32
#endif
#ifndef IN1
#define IN1 I32
#endif
#ifndef OUT
#define OUT I32
#endif

__kernel void hashtable_find(__global const TIM_STORAGE(IN0) * lookups,
                             int lookups_offset,
                             __global const TIM_STORAGE(IN1) * keys,
                             int keys_offset, __global int* found,
                             int found_offset, __global TIM_STORAGE(OUT) * hits,
                             int hits_offset, int lookup_count, int key_count,
                             float hits_scale, float hits_inverse,
                             int hits_zero) {
  const int l = get_global_id(0);
  if (l >= lookup_count) return;
  keys += keys_offset;
  const long lookup = TIM_LOAD_CODE(IN0, lookups + lookups_offset, l);
  int k = 0;
  while (k + 16 <= key_count &&
         !any(TIM_LOAD_CODE16(IN1, keys, k) == (long16)(lookup))) {
    k += 16;
  }
  while (k < key_count && TIM_LOAD_CODE(IN1, keys, k) != lookup) ++k;
  found[found_offset + l] = k < key_count ? k : -1;
  TIM_STORE_REAL(OUT, hits + hits_offset, l, k < key_count ? 1.0f : 0.0f,
                 hits_scale, hits_inverse, hits_zero);
}
