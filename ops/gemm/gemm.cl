// Float32 matrix product on operands in panels, the left one also in rows:
//   gemm_pack  panels[p][k][i] = x(p * SIZE + i, k), 0 beyond the last item
//   gemm_rows  rows[m][k] = x(m, k), with another distance between rows
//   gemm       c(n, m) = sum over k of a(k, m) * b(n, k), by multiply_add in
//              order of k, then + bias[n] + add[n], then limited to low .. high
// x(item, k) is at item * item_step + k * depth_step; c is dense [columns,
// rows, batch].
// gemm_pack: one work-item = 16 k of one panel; dimension 0 = k, dimension 1 =
// panel, dimension 2 = batch.
// gemm_rows: one work-item = a row; dimension 0 = row, dimension 1 = batch.
// gemm: one work-item = ROWS x (2 * WIDTH) elements of c, whose sums stay in
// registers; dimension 0 = tile of rows, dimension 1 = tile of columns,
// dimension 2 = batch.
//
// -DSIZE=12     items of a panel
// -DNEIGHBOURS  item_step is 1; else depth_step is
// -DROWS=12     rows of a tile, the panel size of a
// -DWIDTH=16    floats of a vector; 2 * WIDTH is the panel size of b
// -DA_STEP=8    a is no panels: depth_step 1, and this item_step; no argument,
//               as a pointer per row would take the place of sums in registers
// -DBIAS, -DADD a float per column that is added
// -DACTIVATE    kernels/activate.clh

#ifndef SIZE
#define SIZE 12
#endif
#ifndef ROWS
#define ROWS 12
#endif
#ifndef WIDTH
#define WIDTH 16
#endif

#include "kernels/memory16.clh"
#include "kernels/multiply_add.clh"
#include "ops/gemm/gemm_factor.clh"
#include "ops/launch/epilogue_parameters.clh"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define FLOATS PASTE(float, WIDTH)
#define LOAD PASTE(vload, WIDTH)
#define STORE PASTE(vstore, WIDTH)
// Formulas are made for 16 floats.
#if WIDTH == 16
#define REPEATED(v) (v)
#define FIRST(v) (v)
#elif WIDTH == 8
#define REPEATED(v) ((float16)(v, v))
#define FIRST(v) ((v).lo)
#else
#define REPEATED(v) ((float16)(v, v, v, v))
#define FIRST(v) ((v).lo.lo)
#endif

__kernel void gemm_pack(__global const float* x, int x_offset,
                        __global float* panels, int panels_offset,
                        gemm_factor source, int depth, int panel_count) {
  const int first_k = get_global_id(0) * 16;
  const int panel = get_global_id(1);
  const int batch = get_global_id(2);
  const int batches = source.batches;
  if (first_k >= depth || panel >= panel_count || batch >= batches) return;
  const int last_k = min(first_k + 16, depth);
  const int items = min(source.items - panel * SIZE, SIZE);
  x += x_offset + batch * source.batch_step + panel * SIZE * source.item_step;
  __global float* out =
      panels + panels_offset + ((batch * panel_count + panel) * depth) * SIZE;
#ifdef NEIGHBOURS
#if SIZE % WIDTH == 0
  if (items == SIZE) {
    for (int k = first_k; k < last_k; ++k) {
#pragma unroll
      for (int i = 0; i < SIZE / WIDTH; ++i) {
        STORE(LOAD(i, x + k * source.depth_step), i, out + k * SIZE);
      }
    }
    return;
  }
#endif
  for (int k = first_k; k < last_k; ++k) {
    for (int i = 0; i < SIZE; ++i) {
      out[k * SIZE + i] = i < items ? x[i + k * source.depth_step] : 0.0f;
    }
  }
#else
  float rows[SIZE * 16];
  for (int i = 0; i < SIZE; ++i) {
    __global const float* row = x + i * source.item_step + first_k;
    if (i < items && first_k + 16 <= depth) {
      TIM_VSTORE16_PRIVATE(TIM_VLOAD16(0, row, float), i, rows, float);
    } else {
      for (int k = 0; k < 16; ++k) {
        rows[i * 16 + k] = i < items && first_k + k < depth ? row[k] : 0.0f;
      }
    }
  }
  for (int k = first_k; k < last_k; ++k) {
    for (int i = 0; i < SIZE; ++i) {
      out[k * SIZE + i] = rows[i * 16 + k - first_k];
    }
  }
#endif
}

__kernel void gemm_rows(__global const float* x, int x_offset,
                        __global float* rows, int rows_offset,
                        gemm_factor source, int depth, int row_step) {
  const int item = get_global_id(0);
  const int batch = get_global_id(1);
  if (item >= source.items || batch >= source.batches) return;
  x += x_offset + batch * source.batch_step + item * source.item_step;
  rows += rows_offset + (batch * source.items + item) * row_step;
  int k = 0;
  for (; k + WIDTH <= depth; k += WIDTH) STORE(LOAD(0, x + k), 0, rows + k);
  for (; k < depth; ++k) rows[k] = x[k];
}

static inline FLOATS load_columns(__global const float* values, int first,
                                  int count) {
  if (first + WIDTH <= count) return LOAD(0, values + first);
  float lanes[WIDTH];
  for (int i = 0; i < WIDTH; ++i) {
    lanes[i] = first + i < count ? values[first + i] : 0.0f;
  }
  return LOAD(0, lanes);
}

static inline void store_columns(FLOATS v, __global float* row, int first,
                                 int count, float low, float high) {
#ifndef ACTIVATE
  v = v < low ? low : v;
  v = v > high ? high : v;
#endif
  if (first + WIDTH <= count) {
    STORE(v, 0, row + first);
    return;
  }
  float lanes[WIDTH];
  STORE(v, 0, lanes);
  for (int i = 0; first + i < count; ++i) row[first + i] = lanes[i];
}

// Terms that are added to the columns from `first` on.
#ifdef BIAS
#define LOAD_BIAS(first) load_columns(bias + bias_offset, first, columns)
#else
#define LOAD_BIAS(first) 0.0f
#endif
#ifdef ADD
#define LOAD_ADD(first) load_columns(add + add_offset, first, columns)
#else
#define LOAD_ADD(first) 0.0f
#endif
#define LOAD_MORE(first) ((FLOATS)(LOAD_BIAS(first)) + LOAD_ADD(first))

__kernel void gemm(__global const float* a, int a_offset,
                   __global const float* b, int b_offset,
                   TIM_EPILOGUE_PARAMETERS, gemm_factor a_source,
                   gemm_factor b_source, int depth) {
  const int rows = a_source.items;
  const int columns = b_source.items;
  const int first_new = get_global_id(0) * ROWS;
  const int first_column = get_global_id(1) * 2 * WIDTH;
  const int batch = get_global_id(2);
  if (first_new >= rows || first_column >= columns) return;
  a += a_offset + batch_of(batch, a_source) * a_source.batch_step;
  b += b_offset + batch_of(batch, b_source) * b_source.batch_step +
       first_column * depth;
#ifdef A_STEP
  // The last tile begins earlier, so that all its rows are there.
  const int first_row = min(first_new, rows - ROWS);
#define A(i) a[(i)*A_STEP]
#define NEXT_A 1
  a += first_row * A_STEP;
#else
  const int first_row = first_new;
#define A(i) a[i]
#define NEXT_A ROWS
  a += first_row * depth;
#endif
  output += output_offset + (batch * rows + first_row) * columns;

  FLOATS left[ROWS];
  FLOATS right[ROWS];
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    left[i] = 0.0f;
    right[i] = 0.0f;
  }
  for (int k = 0; k < depth; ++k, a += NEXT_A, b += 2 * WIDTH) {
    const FLOATS b_left = LOAD(0, b);
    const FLOATS b_right = LOAD(1, b);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
      const FLOATS x = (FLOATS)(A(i));
      left[i] = multiply_add(x, b_left, left[i]);
      right[i] = multiply_add(x, b_right, right[i]);
    }
  }

  const FLOATS more_left = LOAD_MORE(first_column);
  const FLOATS more_right = LOAD_MORE(first_column + WIDTH);
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    if (first_row + i < first_new || first_row + i >= rows) continue;
    __global float* row = output + i * columns;
    store_columns(left[i] + more_left, row, first_column, columns, low, high);
    store_columns(right[i] + more_right, row, first_column + WIDTH, columns,
                  low, high);
  }
#ifdef ACTIVATE
  for (int i = 0; i < ROWS; ++i) {
    if (first_row + i < first_new || first_row + i >= rows) continue;
    __global float* row = output + i * columns;
    const int end = min(first_column + 2 * WIDTH, columns);
    for (int column = first_column; column < end; column += WIDTH) {
      const float16 sum = REPEATED(load_columns(row, column, columns));
      const float16 result = ACTIVATE(float16, sum, low, high);
      store_columns(FIRST(result), row, column, columns, low, high);
    }
  }
#endif
}
