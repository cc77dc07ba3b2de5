// Attention of float32, for each head h:
//   x(n, m) = scale * sum over k of queries(k, m) * keys(k, n) + mask(n, m)
//   out(c, m) = sum over n of softmax(x)(n, m) * values(c, n)
// One work-item makes up to TILES * ROWS queries m of one head; dimension 0 =
// queries, dimension 1 = head.  It goes through KEYS keys at a time, and keeps
// of those behind it, for each query, the greatest x, the sum of e^(x -
// greatest), and the sums of products with values, which become smaller where x
// grows: no x leaves private memory.
//
// Dense tensors; `firsts` holds the first elements of queries, keys, values and
// mask for each head.  A query whose x are all -INFINITY makes NaN.
//
// -DROWS=12        queries whose sums are in registers
// -DWIDTH=16       floats of a vector: 16 or 8
// -DTILES=4        times ROWS: most queries of a work-item
// -DDEPTH=64       at least the extent of k, a multiple of 16
// -DCOLUMNS=64     at least the extent of c, a multiple of 2 * WIDTH
// -DKEYS_BY_DEPTH  keys are [n, k]; else [k, n]
// -DMASK           there is a mask

#ifndef ROWS
#define ROWS 12
#endif
#ifndef WIDTH
#define WIDTH 16
#endif
#ifndef TILES
#define TILES 4
#endif
#ifndef DEPTH
#define DEPTH 64
#endif
#ifndef COLUMNS
#define COLUMNS 64
#endif

#include "kernels/memory16.clh"
#include "kernels/multiply_add.clh"
#include "kernels/paste.clh"
#include "kernels/transpose16.clh"

#define KEYS 64
#define STEP (2 * WIDTH)
#define FLOATS TIM_PASTE(float, WIDTH)
#define LOAD TIM_PASTE(vload, WIDTH)
#define STORE TIM_PASTE(vstore, WIDTH)

#define LOG2_E 1.44269504f

// 2^t within 2^-23 of itself for t <= 0, 0 below 2^-126, NaN for NaN.
static inline float16 power_of_2(float16 t) {
  const float16 x = t < -127.0f ? (float16)(-127.0f) : t;
  const float16 n = x + 0x1.8p23f;  // rounds to an integer
  const float16 f = x - (n - 0x1.8p23f);
  float16 y = 0x1.444000p-13f;
  y = multiply_add(y, f, (float16)(0x1.5f48c0p-10f));
  y = multiply_add(y, f, (float16)(0x1.3b2a1cp-7f));
  y = multiply_add(y, f, (float16)(0x1.c6aeccp-5f));
  y = multiply_add(y, f, (float16)(0x1.ebfbe0p-3f));
  y = multiply_add(y, f, (float16)(0x1.62e430p-1f));
  y = multiply_add(y, f, (float16)(1.0f));
  y = as_float16(as_uint16(y) + (as_uint16(n) << 23));
  return t == t ? y : t;
}

// Lanes of x that are NaN stay out: the sum of their query is NaN.
static inline float16 greater(float16 x, float16 y) { return x > y ? x : y; }

static inline float greatest_lane(float16 v) {
  const float8 a = v.lo > v.hi ? v.lo : v.hi;
  const float4 b = a.lo > a.hi ? a.lo : a.hi;
  const float2 c = b.lo > b.hi ? b.lo : b.hi;
  return c.x > c.y ? c.x : c.y;
}

static inline float sum_of_lanes(float16 v) {
  const float8 a = v.lo + v.hi;
  const float4 b = a.lo + a.hi;
  return (b.x + b.y) + (b.z + b.w);
}

// WIDTH floats of which `count` exist, 0 for the others.
static inline FLOATS load_some(__global const float* x, int count) {
  if (count >= WIDTH) return LOAD(0, x);
  float lanes[WIDTH];
  for (int i = 0; i < WIDTH; ++i) lanes[i] = i < count ? x[i] : 0.0f;
  return LOAD(0, lanes);
}

static inline void store_some(FLOATS v, __global float* out, int count) {
  if (count >= WIDTH) {
    STORE(v, 0, out);
    return;
  }
  float lanes[WIDTH];
  STORE(v, 0, lanes);
  for (int i = 0; i < min(count, WIDTH); ++i) out[i] = lanes[i];
}

// rows[m][k] of the queries that exist, 0 for the others.
static inline void copy_queries(__global const float* queries, int count,
                                int depth, FLOATS* rows) {
  for (int m = 0; m < (count + ROWS - 1) / ROWS * ROWS; ++m) {
    for (int k = 0; k < depth; k += WIDTH) {
      const int some = m < count ? depth - k : 0;
      rows[(m * DEPTH + k) / WIDTH] = load_some(queries + m * depth + k, some);
    }
  }
}

// panels[n / STEP][k][n % STEP] of `count` keys, 0 for those that do not exist.
#ifdef KEYS_BY_DEPTH
static inline void copy_keys(__global const float* keys, int count, int depth,
                             int key_count, FLOATS* panels) {
  for (int n = 0; n < count; n += STEP, panels += DEPTH * 2) {
    for (int k = 0; k < depth; ++k) {
      __global const float* row = keys + k * key_count + n;
      panels[k * 2] = load_some(row, count - n);
      panels[k * 2 + 1] = load_some(row + WIDTH, count - n - WIDTH);
    }
  }
}
#else
static inline void copy_keys(__global const float* keys, int count, int depth,
                             int key_count, FLOATS* panels) {
  const int lanes = (count + STEP - 1) / STEP * STEP;
  for (int n = 0; n < lanes; n += 16) {
    float* to = (float*)panels + n / STEP * DEPTH * STEP + n % STEP;
    for (int k = 0; k < depth; k += 16) {
      // The last block begins earlier.
      const int first = depth < 16 ? 0 : min(k, depth - 16);
      float16 block[16];
      for (int i = 0; i < 16; ++i) {
        __global const float* row = keys + (n + i) * depth + first;
        if (n + i >= count) {
          block[i] = 0.0f;
        } else if (depth >= 16) {
          block[i] = TIM_VLOAD16(0, row, float);
        } else {
          float lanes[16];
          for (int j = 0; j < 16; ++j) lanes[j] = j < depth ? row[j] : 0.0f;
          block[i] = vload16(0, lanes);
        }
      }
      tim_transpose16(block);
      for (int i = 0; i < 16; ++i) {
        TIM_VSTORE16_PRIVATE(block[i], 0, to + (first + i) * STEP, float);
      }
    }
  }
}
#endif

// panels[c / STEP][n][c % STEP] of `count` values.
static inline void copy_values(__global const float* values, int count,
                               int columns, FLOATS* panels) {
  for (int c = 0; c < columns; c += STEP, panels += KEYS * 2) {
    for (int n = 0; n < count; ++n) {
      __global const float* row = values + n * columns + c;
      panels[n * 2] = load_some(row, columns - c);
      panels[n * 2 + 1] = load_some(row + WIDTH, columns - c - WIDTH);
    }
  }
}

// x[m][n] of ROWS queries and STEP keys.
static inline void make_scores(const float* queries, const FLOATS* panel,
                               int depth, float scale, FLOATS* x) {
  FLOATS left[ROWS];
  FLOATS right[ROWS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    left[i] = 0.0f;
    right[i] = 0.0f;
  }
  for (int k = 0; k < depth; ++k, ++queries, panel += 2) {
    const FLOATS key_left = panel[0];
    const FLOATS key_right = panel[1];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      const FLOATS q = (FLOATS)(queries[i * DEPTH]);
      left[i] = multiply_add(q, key_left, left[i]);
      right[i] = multiply_add(q, key_right, right[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    x[i * (KEYS / WIDTH)] = left[i] * scale;
    x[i * (KEYS / WIDTH) + 1] = right[i] * scale;
  }
}

// Makes e^(x - greatest) of the x of a query and `count` keys, and their sum;
// returns the exponent of what is behind it.
static inline float make_weights(
#ifdef MASK
    __global const float* mask, int mask_step,
#endif
    int count, float16* x, float* greatest, float* added) {
  const int16 index =
      (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  float16 maxima = *greatest;
  for (int n = 0; n < count; n += 16) {
    float16 v = x[n / 16];
#ifdef MASK
    if (mask_step == 0) {
      v += mask[0];
    } else if (n + 16 <= count) {
      v += TIM_VLOAD16(0, mask + n, float);
    } else {
      float lanes[16];
      for (int i = 0; i < 16; ++i) {
        lanes[i] = n + i < count ? mask[n + i] : 0.0f;
      }
      v += vload16(0, lanes);
    }
#endif
    v = index < count - n ? v : (float16)(-INFINITY);
    maxima = greater(v, maxima);
    x[n / 16] = v;
  }
  const float before = *greatest;
  *greatest = greatest_lane(maxima);
  const float base = *greatest == -INFINITY ? 0.0f : *greatest;
  float16 sum = 0.0f;
  for (int n = 0; n < count; n += 16) {
    const float16 e = power_of_2((x[n / 16] - base) * LOG2_E);
    x[n / 16] = e;
    sum += e;
  }
  *added = sum_of_lanes(sum);
  return (before - base) * LOG2_E;
}

// sums[m][c] of ROWS queries and STEP columns, times factors[m], + the products
// of `count` keys.
static inline void add_values(const float* weights, const FLOATS* panel,
                              int count, const float* factors, FLOATS* sums) {
  FLOATS left[ROWS];
  FLOATS right[ROWS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    left[i] = sums[i * (COLUMNS / WIDTH)] * factors[i];
    right[i] = sums[i * (COLUMNS / WIDTH) + 1] * factors[i];
  }
  for (int n = 0; n < count; ++n, ++weights, panel += 2) {
    const FLOATS value_left = panel[0];
    const FLOATS value_right = panel[1];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      const FLOATS w = (FLOATS)(weights[i * KEYS]);
      left[i] = multiply_add(w, value_left, left[i]);
      right[i] = multiply_add(w, value_right, right[i]);
    }
  }
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    sums[i * (COLUMNS / WIDTH)] = left[i];
    sums[i * (COLUMNS / WIDTH) + 1] = right[i];
  }
}

__kernel void attention(__global const float* queries, int queries_offset,
                        __global const float* keys, int keys_offset,
                        __global const float* values, int values_offset,
#ifdef MASK
                        __global const float* mask, int mask_offset,
#endif
                        __global const int* firsts, int firsts_offset,
                        __global float* output, int output_offset,
                        int query_count, int key_count, int depth, int columns,
                        int mask_query_step, int mask_key_step, float scale,
                        int tiles) {
  const int first = get_global_id(0) * tiles * ROWS;
  const int head = get_global_id(1);
  if (first >= query_count) return;
  const int count = min(query_count - first, tiles * ROWS);
  firsts += firsts_offset + head * 4;
  queries += queries_offset + firsts[0] + first * depth;
  keys += keys_offset + firsts[1];
  values += values_offset + firsts[2];
  output += output_offset + (head * query_count + first) * columns;
#ifdef MASK
  mask += mask_offset + firsts[3] + first * mask_query_step;
#endif

  FLOATS rows[TILES * ROWS * DEPTH / WIDTH];
  FLOATS key_panels[KEYS * DEPTH / WIDTH];
  FLOATS value_panels[KEYS * COLUMNS / WIDTH];
  FLOATS sums[TILES * ROWS * COLUMNS / WIDTH];
  float16 x[ROWS * KEYS / 16];
  float greatest[TILES * ROWS];
  float totals[TILES * ROWS];
  float factors[16];
  copy_queries(queries, count, depth, rows);
  for (int m = 0; m < TILES * ROWS; ++m) {
    greatest[m] = -INFINITY;
    totals[m] = 0.0f;
  }
  for (int i = 0; i < TILES * ROWS * COLUMNS / WIDTH; ++i) sums[i] = 0.0f;
  for (int n = 0; n < key_count; n += KEYS) {
    const int some = min(key_count - n, KEYS);
#ifdef KEYS_BY_DEPTH
    copy_keys(keys + n, some, depth, key_count, key_panels);
#else
    copy_keys(keys + n * depth, some, depth, key_count, key_panels);
#endif
    copy_values(values + n * columns, some, columns, value_panels);
    for (int m = 0; m < count; m += ROWS) {
      for (int i = 0; i < some; i += STEP) {
        make_scores((const float*)rows + m * DEPTH,
                    key_panels + i / STEP * DEPTH * 2, depth, scale,
                    (FLOATS*)x + i / WIDTH);
      }
      float added[ROWS];
      for (int i = 0; i < 16; ++i) factors[i] = 0.0f;
      for (int i = 0; i < ROWS; ++i) {
        factors[i] = make_weights(
#ifdef MASK
            mask + min(m + i, count - 1) * mask_query_step + n * mask_key_step,
            mask_key_step,
#endif
            some, x + i * (KEYS / 16), greatest + m + i, added + i);
      }
      vstore16(power_of_2(vload16(0, factors)), 0, factors);
      for (int i = 0; i < ROWS; ++i) {
        totals[m + i] = totals[m + i] * factors[i] + added[i];
      }
      for (int c = 0; c < columns; c += STEP) {
        add_values((const float*)x, value_panels + c / STEP * KEYS * 2, some,
                   factors, sums + (m * COLUMNS + c) / WIDTH);
      }
    }
  }
  for (int m = 0; m < count; ++m) {
    const float r = 1.0f / totals[m];
    for (int c = 0; c < columns; c += WIDTH) {
      store_some(sums[(m * COLUMNS + c) / WIDTH] * r, output + m * columns + c,
                 columns - c);
    }
  }
}
