// Softmax along axis 0 of 8-bit codes to 8-bit codes, with the bits of
// ops/normalization/softmax.cl.
//
// Dense rows of `count` elements.  One work-item makes `piece` rows: those that
// ops/normalization/softmax_estimate.clh leaves, if `tolerance` is not 0, 16 at
// a time, whose sums are the lanes of a vector.  For the maximum that a row
// has, e is a function of the code: a table, which later rows of that maximum
// use again.  The results of a row are a table too.  Short rows have fewer
// elements than a table, and compute them.
//
// -DIN=U8 -DOUT=U8  element types, U8 or I8

#ifndef IN
#define IN U8
#endif
#ifndef OUT
#define OUT U8
#endif

#include "kernels/bytes/byte_result.clh"
#include "kernels/bytes/private_table.clh"
#include "kernels/elements16.clh"
#include "kernels/exact_exp2.clh"
#include "kernels/memory16.clh"
#include "kernels/paste.clh"
#include "ops/normalization/softmax_estimate.clh"

// Elements of a row whose e are held at a time.
#define HELD 256
// Rows of fewer elements do without the table of e.
#define TABLE_FROM 128

// What 0 has as an unsigned byte, where the codes of IN count from the least.
#define ZERO_BYTE (TIM_UNSIGNED_BYTES(IN, (uchar)(0)))

static inline uchar16 ordered_bytes(__global const TIM_STORAGE(IN) * in) {
  const uchar16 bytes = TIM_VLOAD16(0, (__global const uchar*)in, uchar);
  return TIM_UNSIGNED_BYTES(IN, bytes);
}

// The greatest code, counted from the least of its type.
static inline int greatest_code(__global const TIM_STORAGE(IN) * in,
                                int count) {
  if (count < 16) {
    TIM_STORAGE(IN) m = in[0];
    for (int i = 1; i < count; ++i) m = max(m, in[i]);
    return m - TIM_LEAST_BYTE(IN);
  }
  uchar16 even = ordered_bytes(in + count - 16);
  uchar16 odd = even;
  int i = 0;
  for (; i + 32 <= count; i += 32) {
    even = max(even, ordered_bytes(in + i));
    odd = max(odd, ordered_bytes(in + i + 16));
  }
  if (i + 16 <= count) even = max(even, ordered_bytes(in + i));
  const uchar16 m16 = max(even, odd);
  const uchar8 m8 = max(m16.lo, m16.hi);
  const uchar4 m4 = max(m8.lo, m8.hi);
  const uchar2 m2 = max(m4.lo, m4.hi);
  return max(m2.x, m2.y);
}

static inline float real_of(int code, float scale, int zero) {
  return (float)(code + TIM_LEAST_BYTE(IN) - zero) * scale;
}

// e of the codes up to `greatest`.
static inline void fill_powers(TIM_REAL_TABLE_TYPE* table, int greatest,
                               float k, float scale, int zero) {
  const int16 lane =
      (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const float m = real_of(greatest, scale, zero);
  for (int i = 0; i <= greatest; i += 16) {
    const int16 code = lane + (i + TIM_LEAST_BYTE(IN));
    const float16 x = convert_float16(code - (int16)(zero)) * scale;
    tim_set_reals16(table, i ^ ZERO_BYTE, tim_exp2_16((x - m) * k));
  }
}

// The table of the maximum `greatest`, which is made in one that no row of this
// sixteen has, unless it is there.  `keys` are the maxima of all 16 tables,
// below 0 of an empty one; `taken` has bits of those that rows have.
static inline int use_powers(TIM_REAL_TABLE_TYPE* tables, int* keys, int* taken,
                             int greatest, float k, float scale, int zero) {
  int at = 0;
  while (at < 16 && keys[at] != greatest) ++at;
  if (at == 16) {
    at = greatest % 16;  // Near maxima do not displace each other.
    while ((*taken >> at) & 1) at = (at + 1) % 16;
    keys[at] = greatest;
    fill_powers(tables + at * TIM_REAL_TABLE_SIZE, greatest, k, scale, zero);
  }
  *taken |= 1 << at;
  return at * TIM_REAL_TABLE_SIZE;
}

// Vectors of `count` elements begin at 0, 16, ... and the last one where it
// ends with them, so that it makes elements again.
#define VECTOR_AT(i, count) max(min(i, (count)-16), 0)

// Real values of the first `count` elements, at most 16, then the last again.
static inline float16 load_reals(__global const TIM_STORAGE(IN) * in, int count,
                                 float scale, int zero) {
  if (count >= 16) return TIM_LOAD_REAL16(IN, in, 0, scale, zero);
  int code[16];
  for (int j = 0; j < 16; ++j) code[j] = in[min(j, count - 1)];
  return convert_float16(vload16(0, code) - (int16)(zero)) * scale;
}

// The e of a short row without a table.
static inline void compute_powers(__global const TIM_STORAGE(IN) * in, float* e,
                                  int count, float m, float k, float scale,
                                  int zero) {
  for (int i = 0; i < count; i += 16) {
    const int at = VECTOR_AT(i, count);
    const float16 x = load_reals(in + at, count - at, scale, zero);
    TIM_VSTORE16_PRIVATE(tim_exp2_16((x - m) * k), 0, e + at, float);
  }
}

static inline float16 four_rows(const float* e, int row) {
  const float* const p = e + row * HELD;
  return (float16)(*(const float4*)p, *(const float4*)(p + 4 * HELD),
                   *(const float4*)(p + 8 * HELD),
                   *(const float4*)(p + 12 * HELD));
}

// sums + the first `count` elements of 16 rows, each from left to right; 0 for
// one that does not exist changes nothing.
static inline float16 add_rows(const float* e, int count, float16 sums) {
  for (int i = 0; i < count; i += 4) {
    const float16 a = four_rows(e + i, 0);
    const float16 b = four_rows(e + i, 1);
    const float16 c = four_rows(e + i, 2);
    const float16 d = four_rows(e + i, 3);
    // Quarter q of a vector has 4 elements of a row q * 4 + ...; exchanged, one
    // of 4 rows.
    const float16 ab01 =
        (float16)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5, a.s8, b.s8,
                  a.s9, b.s9, a.sc, b.sc, a.sd, b.sd);
    const float16 ab23 =
        (float16)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7, a.sa, b.sa,
                  a.sb, b.sb, a.se, b.se, a.sf, b.sf);
    const float16 cd01 =
        (float16)(c.s0, d.s0, c.s1, d.s1, c.s4, d.s4, c.s5, d.s5, c.s8, d.s8,
                  c.s9, d.s9, c.sc, d.sc, c.sd, d.sd);
    const float16 cd23 =
        (float16)(c.s2, d.s2, c.s3, d.s3, c.s6, d.s6, c.s7, d.s7, c.sa, d.sa,
                  c.sb, d.sb, c.se, d.se, c.sf, d.sf);
    sums += (float16)(ab01.s01, cd01.s01, ab01.s45, cd01.s45, ab01.s89,
                      cd01.s89, ab01.scd, cd01.scd);
    sums += (float16)(ab01.s23, cd01.s23, ab01.s67, cd01.s67, ab01.sab,
                      cd01.sab, ab01.sef, cd01.sef);
    sums += (float16)(ab23.s01, cd23.s01, ab23.s45, cd23.s45, ab23.s89,
                      cd23.s89, ab23.scd, cd23.scd);
    sums += (float16)(ab23.s23, cd23.s23, ab23.s67, cd23.s67, ab23.sab,
                      cd23.sab, ab23.sef, cd23.sef);
  }
  return sums;
}

static inline uchar16 result_bytes(float16 y, float scale, float inverse,
                                   int zero) {
  const float16 units = TIM_UNITS16(y, scale, inverse, zero);
  return as_uchar16(TIM_PASTE(tim_to_code16_, TIM_STORAGE(OUT))(units));
}

static inline void store_held(const float* e, __global TIM_STORAGE(OUT) * out,
                              int count, float r, float scale, float inverse,
                              int zero) {
  __global uchar* const y = (__global uchar*)out;
  for (int i = 0; i < count; i += 16) {
    const int at = VECTOR_AT(i, count);
    const float16 power = TIM_VLOAD16_PRIVATE(0, e + at, float);
    const uchar16 bytes = result_bytes(power * r, scale, inverse, zero);
    if (count >= 16) {
      TIM_VSTORE16(bytes, 0, y + at, uchar);
    } else {
      uchar byte[16];
      vstore16(bytes, 0, byte);
      for (int j = 0; j < count; ++j) y[j] = byte[j];
    }
  }
}

static inline void store_by_table(__global const TIM_STORAGE(IN) * in,
                                  __global TIM_STORAGE(OUT) * out, int count,
                                  const TIM_REAL_TABLE_TYPE* powers,
                                  int greatest, float r, float scale,
                                  float inverse, int zero) {
  uchar results[256] __attribute__((aligned(64)));
  for (int i = 0; i <= greatest; i += 16) {
    const float16 y = tim_get_reals16(powers, i ^ ZERO_BYTE) * r;
    TIM_VSTORE16_PRIVATE(result_bytes(y, scale, inverse, zero), 0,
                         results + (i ^ ZERO_BYTE), uchar);
  }
  tim_look_up_bytes_of((__global const uchar*)in, results, (__global uchar*)out,
                       count);
}

// Makes the e of `held` elements of a row, and zeros up to a multiple of 4.
static inline void hold_powers(__global const TIM_STORAGE(IN) * in, float* e,
                               int held, int by_table,
                               const TIM_REAL_TABLE_TYPE* table, int greatest,
                               float k, float scale, int zero) {
  if (by_table) {
    tim_look_up_reals((__global const uchar*)in, table, e, held);
  } else {
    const float m = real_of(greatest, scale, zero);
    compute_powers(in, e, held, m, k, scale, zero);
  }
  for (int i = held; i % 4 != 0; ++i) e[i] = 0.0f;
}

// The sums of e of `lanes` rows, of which the last HELD elements or fewer stay.
static inline float16 sums_of_rows(__global const TIM_STORAGE(IN) * in,
                                   const int* rows, float* e, int count,
                                   int lanes, int by_table,
                                   const TIM_REAL_TABLE_TYPE* tables,
                                   const int* table, const int* greatest,
                                   float k, float scale, int zero) {
  for (int j = lanes; j < 16; ++j) {
    for (int i = 0; i < min(count + 3, HELD); ++i) e[j * HELD + i] = 0.0f;
  }
  float16 sums = 0.0f;
  for (int i = 0; i < count; i += HELD) {
    const int held = min(count - i, HELD);
    for (int j = 0; j < lanes; ++j) {
      hold_powers(in + rows[j] * count + i, e + j * HELD, held, by_table,
                  tables + table[j], greatest[j], k, scale, zero);
    }
    sums = add_rows(e, held, sums);
  }
  return sums;
}

// Makes `lanes` rows by the exact sums.
static inline void make_rows(__global const TIM_STORAGE(IN) * in,
                             __global TIM_STORAGE(OUT) * out, const int* rows,
                             int lanes, int count, TIM_REAL_TABLE_TYPE* tables,
                             int* keys, float* e, float k, float in_scale,
                             int in_zero, float out_scale, float out_inverse,
                             int out_zero) {
  const int by_table = count >= TABLE_FROM;
  int greatest[16];
  int table[16];  // Where it begins.
  int taken = 0;
  for (int j = 0; j < lanes; ++j) {
    greatest[j] = greatest_code(in + rows[j] * count, count);
    table[j] = by_table ? use_powers(tables, keys, &taken, greatest[j], k,
                                     in_scale, in_zero)
                        : 0;
  }
  float sum[16];
  vstore16(sums_of_rows(in, rows, e, count, lanes, by_table, tables, table,
                        greatest, k, in_scale, in_zero),
           0, sum);
  for (int j = 0; j < lanes; ++j) {
    const int first = rows[j] * count;
    const float r = tim_reciprocal(sum[j]);
    if (count > HELD) {
      store_by_table(in + first, out + first, count, tables + table[j],
                     greatest[j], r, out_scale, out_inverse, out_zero);
    } else {
      store_held(e + j * HELD, out + first, count, r, out_scale, out_inverse,
                 out_zero);
    }
  }
}

__kernel void softmax_bytes(__global const TIM_STORAGE(IN) * in, int in_offset,
                            __global TIM_STORAGE(OUT) * out, int out_offset,
                            int count, int rows, int piece, float k,
                            float tolerance, float in_scale, int in_zero,
                            float out_scale, float out_inverse, int out_zero) {
  TIM_REAL_TABLE_TYPE tables[16 * TIM_REAL_TABLE_SIZE]
      __attribute__((aligned(64)));
  float e[16 * HELD] __attribute__((aligned(64)));
  int keys[16];
  for (int j = 0; j < 16; ++j) keys[j] = -1;
  in += in_offset;
  out += out_offset;
#ifdef ESTIMATED_FROM
  const int estimates = tolerance > 0.0f && count >= ESTIMATED_FROM;
  const float step = in_scale * k;
  const float16 low = powers_of_lanes(step);
  const float16 high = powers_of_lanes(16.0f * step);
#endif
  int row = get_global_id(0) * piece;
  const int last = min(row + piece, rows);
#ifdef ESTIMATED_FROM
  int greatest =
      estimates && row < last ? greatest_code(in + row * count, count) : 0;
#endif
  while (row < last) {
    int exact[16];  // Rows.
    int lanes = 0;
    for (; row < last && lanes < 16; ++row) {
#ifdef ESTIMATED_FROM
      if (estimates) {
        __global const TIM_STORAGE(IN)* const in_row = in + row * count;
        const int next = row + 1 < last ? count : 0;
        const int m = greatest;
        if (estimate_row(in_row, in_row + next, out + row * count, count, m,
                         high, low, out_inverse, out_zero, tolerance,
                         &greatest)) {
          continue;
        }
      }
#endif
      exact[lanes++] = row;
    }
    if (lanes == 0) return;
    make_rows(in, out, exact, lanes, count, tables, keys, e, k, in_scale,
              in_zero, out_scale, out_inverse, out_zero);
  }
}
