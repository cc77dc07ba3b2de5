// y[i] = table[x[i]]: any unary operator on 8-bit elements, whose table of 256
// results the host makes with eval.  Flat over all elements in memory.
// One work-item computes 16 consecutive elements.
//
// -DT=uchar  unsigned type of the size of an output element

#ifndef T
#define T uchar
#endif

__kernel void unary_table(__global const uchar* x, int x_offset, __global T* y,
                          int y_offset, __global const T* table,
                          int table_offset, int n) {
  const int first = get_global_id(0) * 16;
  if (first >= n) return;
  x += x_offset;
  y += y_offset;
  table += table_offset;
  const int last = min(first + 16, n);
  for (int i = first; i < last; ++i) y[i] = table[x[i]];
}
