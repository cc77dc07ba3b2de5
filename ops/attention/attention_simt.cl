// attention.cl for GPUs, for each head h:
//   x(n, m) = scale * sum over k of queries(k, m) * keys(k, n) + mask(n, m)
//   out(c, m) = sum over n of softmax(x)(n, m) * values(c, n)
// One work-group makes TILE queries of one head; dimension 0 = queries,
// dimension 1 = head.  It goes through TILE keys at a time; four of its items
// share a query, each makes four of its x and every fourth column, and all of
// them keep the greatest x and the sum of e^(x - greatest).  No x leaves local
// memory.
//
// Dense tensors; `firsts` holds the first elements of queries, keys, values and
// mask for each head.  A query whose x are all -INFINITY makes NaN.
//
// -DDEPTH=64       at least the extent of k
// -DCOLUMNS=64     at least the extent of c, a multiple of 4
// -DKEYS_BY_DEPTH  keys are [n, k]; else [k, n]
// -DMASK           there is a mask

#ifndef DEPTH
#define DEPTH 64
#endif
#ifndef COLUMNS
#define COLUMNS 64
#endif

#define GROUP 64
#define TILE 16
#define PARTS 4  // items of a query
#define LOG2_E 1.44269504f

// The items of a group copy rows of `width` floats, `step` apart in `tile`.
static inline void copy_rows(__global const float* rows, int count, int width,
                             __local float* tile, int step) {
  for (int i = get_local_id(0); i < count * width; i += GROUP) {
    tile[i / width * step + i % width] = rows[i];
  }
}

// The same of keys whose floats are `key_count` apart.
static inline void copy_columns(__global const float* keys, int count,
                                int depth, int key_count, __local float* tile,
                                int step) {
  for (int i = get_local_id(0); i < count * depth; i += GROUP) {
    tile[i % count * step + i / count] =
        keys[i / count * key_count + i % count];
  }
}

static inline float product(__local const float* a, __local const float* b,
                            int count) {
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void attention_simt(
    __global const float* queries, int queries_offset,
    __global const float* keys, int keys_offset, __global const float* values,
    int values_offset,
#ifdef MASK
    __global const float* mask, int mask_offset,
#endif
    __global const int* firsts, int firsts_offset, __global float* output,
    int output_offset, int query_count, int key_count, int depth, int columns,
    int mask_query_step, int mask_key_step, float scale) {
  // One element more, so that rows begin in different banks.
  __local float query_tile[TILE][DEPTH + 1];
  __local float key_tile[TILE][DEPTH + 1];
  __local float value_tile[TILE][COLUMNS];
  __local float x[TILE][TILE + 1];
  const int m = get_local_id(0) / PARTS;
  const int part = get_local_id(0) % PARTS;
  const int first = get_group_id(0) * TILE;
  const int head = get_group_id(1);
  firsts += firsts_offset + head * 4;
  queries += queries_offset + firsts[0] + first * depth;
  keys += keys_offset + firsts[1];
  values += values_offset + firsts[2];
  output += output_offset + (head * query_count + first) * columns;
#ifdef MASK
  mask += mask_offset + firsts[3] + (first + m) * mask_query_step;
#endif

  const int count = min(query_count - first, TILE);
  copy_rows(queries, count, depth, query_tile[0], DEPTH + 1);
  float sums[COLUMNS / PARTS] = {0};
  float greatest = -INFINITY;
  float total = 0.0f;
  for (int n = 0; n < key_count; n += TILE) {
    const int some = min(key_count - n, TILE);
#ifdef KEYS_BY_DEPTH
    copy_columns(keys + n, some, depth, key_count, key_tile[0], DEPTH + 1);
#else
    copy_rows(keys + n * depth, some, depth, key_tile[0], DEPTH + 1);
#endif
    copy_rows(values + n * columns, some, columns, value_tile[0], COLUMNS);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = part; m < count && j < some; j += PARTS) {
      x[m][j] = product(query_tile[m], key_tile[j], depth) * scale;
#ifdef MASK
      x[m][j] += mask[(n + j) * mask_key_step];
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // NaN is no greatest x: the sum of its query is NaN.
    float maximum = greatest;
    for (int j = 0; m < count && j < some; ++j) {
      maximum = x[m][j] > maximum ? x[m][j] : maximum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const float base = maximum == -INFINITY ? 0.0f : maximum;
    const float factor = exp2((greatest - base) * LOG2_E);
    greatest = maximum;
    for (int j = part; m < count && j < some; j += PARTS) {
      x[m][j] = exp2((x[m][j] - base) * LOG2_E);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    total *= factor;
    for (int j = 0; m < count && j < some; ++j) total += x[m][j];
    for (int i = 0; i < COLUMNS / PARTS; ++i) {
      const int c = i * PARTS + part;
      if (m >= count || c >= columns) continue;
      float sum = sums[i] * factor;
      for (int j = 0; j < some; ++j) sum += x[m][j] * value_tile[j][c];
      sums[i] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (m >= count) return;
  const float r = 1.0f / total;
  for (int i = 0; i < COLUMNS / PARTS; ++i) {
    const int c = i * PARTS + part;
    if (c < columns) output[m * columns + c] = sums[i] * r;
  }
}
