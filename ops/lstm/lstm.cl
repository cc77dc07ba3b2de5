// UnidirectionalSequenceLstm; formulas in ops/lstm/lstm_node.h.
//   lstm_input  the products of the input, and of the aux input, with their
//               weights for all rows: one matrix product
//   lstm_steps  all steps: products with the state, then what follows them
// Vectors of units and AT: lstm.clh.  gates: the sums of each row, see GATE;
// parameters: a float per unit, in turn biases of the gates, peepholes of i, f,
// o, layer-norm weights of the gates, at last the projection's bias; state
// [outputs] and cell [units] of each batch item, filled up to vectors.
// lstm_input: one work-item = one vector of units of ROWS rows; dimension 0 =
// vector, dimension 1 = tile of rows.
// lstm_steps: one work-group = ROWS batch items; its items share the vectors.
//
// -DSIMT         work-groups of lstm_steps have many items; else one
// -DROWS=4 -DGATES=4  lstm_products.clh; 3 gates: without input gate, i = 1 - f
// -DTIM_NO_FMA   the bits of eval
// -DIN=F32 -DAUX=F32 -DSTATE=F32 -DCELL=F32 -DOUT=F32 -DSTATE_OUT=F32
// -DCELL_OUT=F32 types of kernels/elements.clh; without AUX ... CELL_OUT there
//                is no such operand
// -DPEEPHOLE -DNORM -DPROJECTION -DSEQUENCES
// -DACT=TIM_TANH -DRHO=TIM_SIGMOID

#include "kernels/elements.clh"
#include "kernels/formulas/activations.clh"
#include "kernels/formulas/simple_functions.clh"
#include "kernels/lane_sum.clh"
#include "kernels/memory16.clh"
#include "ops/lstm/lstm.clh"
#include "ops/lstm/lstm_products.clh"

#ifndef IN
#define IN F32
#endif
#ifndef OUT
#define OUT F32
#endif
#ifndef ACT
#define ACT TIM_TANH
#endif
#ifndef RHO
#define RHO TIM_SIGMOID
#endif

#define LSTM_IDENTITY(T, x, a, b) (x)
// The parameters of TIM_HARD_SIGMOID.
#define ACTIVATED(x) ACT(VECTOR, x, 0.2f, 0.5f)
#define OPENED(x) RHO(VECTOR, x, 0.2f, 0.5f)

// Of the sums of a row, which are like weights of one product.
#define GATE(row, vector, gate, vectors) \
  ((row) * (vectors)*GATES * LANES + AT(vector, 0, gate, GATES, 1, vectors))
#define PARAMETER(i, vector, vectors) (((i) * (vectors) + (vector)) * LANES)

#define I_GATE 0
#define F_GATE (GATES - 3)
#define C_GATE (GATES - 2)
#define O_GATE (GATES - 1)
#define PEEPHOLES GATES
#define NORMS (GATES + 3)
#define PARAMETERS (2 * GATES + 3)

__kernel void lstm_input(__global const TIM_STORAGE(IN) * input,
                         int input_offset, __global const float* weights,
                         int weights_offset,
#ifdef AUX
                         __global const TIM_STORAGE(AUX) * aux, int aux_offset,
                         __global const float* aux_weights,
                         int aux_weights_offset,
#endif
                         __global float* gates, int gates_offset,
                         float input_scale, int input_zero,
#ifdef AUX
                         float aux_scale, int aux_zero, int aux_width,
#endif
                         int width, int vectors, int rows) {
  const int vector = get_global_id(0);
  const int first = get_global_id(1) * ROWS;
  if (vector >= vectors || first >= rows) return;
  // Beyond the last row that one is read again.
  __global const TIM_STORAGE(IN) * x[ROWS];
#ifdef AUX
  __global const TIM_STORAGE(AUX) * a[ROWS];
#endif
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const int row = min(first + r, rows - 1);
    x[r] = input + input_offset + row * width;
#ifdef AUX
    a[r] = aux + aux_offset + row * aux_width;
#endif
  }
  FOR_GATES(gate) {
    VECTOR sums[ROWS * SIDE_BY_SIDE];
#pragma unroll
    for (int i = 0; i < ROWS * SIDE_BY_SIDE; ++i) sums[i] = 0.0f;
    ADD_PRODUCTS(sums, gate, SIDE_BY_SIDE, GATES, weights + weights_offset,
                 vector, width, vectors,
                 TIM_LOAD_REAL(IN, x[r], k, input_scale, input_zero))
#ifdef AUX
    ADD_PRODUCTS(sums, gate, SIDE_BY_SIDE, GATES,
                 aux_weights + aux_weights_offset, vector, aux_width, vectors,
                 TIM_LOAD_REAL(AUX, a[r], k, aux_scale, aux_zero))
#endif
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (first + r >= rows) continue;
#pragma unroll
      for (int g = 0; g < SIDE_BY_SIDE; ++g) {
        STORE(
            sums[r * SIDE_BY_SIDE + g],
            gates + gates_offset + GATE(first + r, vector, gate + g, vectors));
      }
    }
  }
}

#ifdef NORM
// Mean and factor of the sums of gate g of a row; the order of LaneSum.
static inline float2 moments(__global const float* gates, int row, int g,
                             int vectors, int units, float inverse) {
#ifdef SIMT
#define V(u) gates[GATE(row, u, g, vectors)]
  const float first = V(0);
  float total, squares;
  TIM_LANE_SUM(total, units, u, V(u) - first)
  const float mean = first + total * inverse;
  TIM_LANE_SUM(squares, units, u, (V(u) - mean) * (V(u) - mean))
#undef V
#else
  const int16 index =
      (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const float first = gates[GATE(row, 0, g, vectors)];
  float16 sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int p = 0; p < vectors; ++p) {
    const float16 d = LOAD(gates + GATE(row, p, g, vectors)) - first;
    sums[p & 3] += p * 16 + index < units ? d : (float16)(0.0f);
  }
  const float mean = first + tim_lane_total(sums) * inverse;
  for (int j = 0; j < 4; ++j) sums[j] = 0.0f;
  for (int p = 0; p < vectors; ++p) {
    const float16 d = LOAD(gates + GATE(row, p, g, vectors)) - mean;
    sums[p & 3] += p * 16 + index < units ? d * d : (float16)(0.0f);
  }
  const float squares = tim_lane_total(sums);
#endif
  return (float2)(mean, tim_reciprocal(tim_sqrt(squares * inverse + 1e-8f)));
}
// Of gate g with the moments m.
#define FINISHED(v, m, g, p)                                   \
  (((v) - (m).x) * (m).y *                                     \
       LOAD(parameters + PARAMETER(NORMS + (g), p, vectors)) + \
   LOAD(parameters + PARAMETER(g, p, vectors)))
#else
#define FINISHED(v, m, g, p) ((v) + LOAD(parameters + PARAMETER(g, p, vectors)))
#endif

#define PEEP(v, i, c, p) \
  ((v) + LOAD(parameters + PARAMETER(PEEPHOLES + (i), p, vectors)) * (c))

static inline VECTOR limited(VECTOR x, float limit) {
  if (!(limit > 0.0f)) return x;
  return TIM_WITHIN(VECTOR, x, -limit, limit);
}

// The first `count` lanes of v, at most all, to elements i, i + 1, ...
#ifdef SIMT
#define STORE_LANES(T, p, i, v, count, s, inv, z) \
  { TIM_STORE_REAL(T, p, i, v, s, inv, z); }
#else
#define STORE_LANES(T, p, i, v, count, s, inv, z)                    \
  {                                                                  \
    float of_lanes[16];                                              \
    TIM_VSTORE16_PRIVATE(v, 0, of_lanes, float);                     \
    if ((count) >= 16) {                                             \
      _Pragma("unroll") for (int lane = 0; lane < 16; ++lane) {      \
        TIM_STORE_REAL(T, p, (i) + lane, of_lanes[lane], s, inv, z); \
      }                                                              \
    } else {                                                         \
      for (int lane = 0; lane < (count); ++lane) {                   \
        TIM_STORE_REAL(T, p, (i) + lane, of_lanes[lane], s, inv, z); \
      }                                                              \
    }                                                                \
  }
#endif

// Of batch item first + r in step t.
#ifdef SEQUENCES
#define STORE_OUTPUT(v, r, p, count)                                           \
  STORE_LANES(                                                                 \
      OUT, output,                                                             \
      output_offset + (first_row + (r)*batch_stride) * outputs + (p)*LANES, v, \
      (count) - (p)*LANES, output_scale, output_inverse, output_zero)
#else
#define STORE_OUTPUT(v, r, p, count)                                  \
  if (t == steps - 1)                                                 \
  STORE_LANES(OUT, output,                                            \
              output_offset + (first + (r)) * outputs + (p)*LANES, v, \
              (count) - (p)*LANES, output_scale, output_inverse, output_zero)
#endif

__kernel void lstm_steps(
    __global float* gates, int gates_offset, __global const float* recurrent,
    int recurrent_offset, __global const float* parameters,
    int parameters_offset,
#ifdef PROJECTION
    __global const float* projection, int projection_offset,
    __global float* hidden, int hidden_offset,
#endif
#ifdef STATE
    __global const TIM_STORAGE(STATE) * first_state, int first_state_offset,
#endif
#ifdef CELL
    __global const TIM_STORAGE(CELL) * first_cell, int first_cell_offset,
#endif
    __global float* state, int state_offset, __global float* cell,
    int cell_offset, __global TIM_STORAGE(OUT) * output, int output_offset,
#ifdef STATE_OUT
    __global TIM_STORAGE(STATE_OUT) * last_state, int last_state_offset,
#endif
#ifdef CELL_OUT
    __global TIM_STORAGE(CELL_OUT) * last_cell, int last_cell_offset,
#endif
#ifdef STATE
    float first_state_scale, int first_state_zero,
#endif
#ifdef CELL
    float first_cell_scale, int first_cell_zero,
#endif
    float output_scale, float output_inverse, int output_zero,
#ifdef STATE_OUT
    float last_state_scale, float last_state_inverse, int last_state_zero,
#endif
#ifdef CELL_OUT
    float last_cell_scale, float last_cell_inverse, int last_cell_zero,
#endif
    float cell_clip, float proj_clip, float inverse_units, int units,
    int vectors, int outputs, int output_vectors, int steps, int batch,
    int step_stride, int batch_stride) {
  const int first = get_group_id(0) * ROWS;
  const int rows = min(ROWS, batch - first);
  const int state_step = output_vectors * LANES;
  gates += gates_offset;
  recurrent += recurrent_offset;
  parameters += parameters_offset;
  state += state_offset + first * state_step;
  cell += cell_offset + first * vectors * LANES;
#ifdef PROJECTION
  projection += projection_offset;
  hidden += hidden_offset + first * vectors * LANES;
#endif

  for (int r = 0; r < rows; ++r) {
    for (int i = FIRST; i < state_step; i += STEP) {
      float real = 0.0f;
#ifdef STATE
      if (i < outputs) {
        real = TIM_LOAD_REAL(STATE, first_state,
                             first_state_offset + (first + r) * outputs + i,
                             first_state_scale, first_state_zero);
      }
#endif
      state[r * state_step + i] = real;
    }
    for (int i = FIRST; i < vectors * LANES; i += STEP) {
      float real = 0.0f;
#ifdef CELL
      if (i < units) {
        real = TIM_LOAD_REAL(CELL, first_cell,
                             first_cell_offset + (first + r) * units + i,
                             first_cell_scale, first_cell_zero);
      }
#endif
      cell[r * vectors * LANES + i] = real;
    }
  }
  BARRIER;

  for (int t = 0; t < steps; ++t) {
    const int first_row = t * step_stride + first * batch_stride;
    // Beyond the last row that one is taken again.
    int row[ROWS];
    __global const float* x[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      row[r] = first_row + min(r, rows - 1) * batch_stride;
      x[r] = state + min(r, rows - 1) * state_step;
    }
    for (int p = FIRST; p < vectors; p += STEP) {
      FOR_GATES(gate) {
        VECTOR sums[ROWS * SIDE_BY_SIDE];
#pragma unroll
        for (int i = 0; i < ROWS * SIDE_BY_SIDE; ++i) {
          sums[i] = LOAD(gates + GATE(row[i / SIDE_BY_SIDE], p,
                                      gate + i % SIDE_BY_SIDE, vectors));
        }
        ADD_PRODUCTS(sums, gate, SIDE_BY_SIDE, GATES, recurrent, p, outputs,
                     vectors, x[r][k])
#pragma unroll
        for (int i = 0; i < ROWS * SIDE_BY_SIDE; ++i) {
          STORE(sums[i], gates + GATE(row[i / SIDE_BY_SIDE], p,
                                      gate + i % SIDE_BY_SIDE, vectors));
        }
      }
    }
    BARRIER;

    for (int r = 0; r < rows; ++r) {
      const int at = first_row + r * batch_stride;
      __global float* c = cell + r * vectors * LANES;
#ifdef PROJECTION
      __global float* h = hidden + r * vectors * LANES;
#else
      __global float* h = state + r * state_step;
#endif
#ifdef NORM
#ifdef PEEPHOLE
      for (int p = FIRST; p < vectors; p += STEP) {
        for (int g = 0; g < F_GATE + 1; ++g) {
          __global float* v = gates + GATE(at, p, g, vectors);
          const VECTOR sum = LOAD(v);
          STORE(PEEP(sum, g == F_GATE ? 1 : 0, LOAD(c + p * LANES), p), v);
        }
      }
      BARRIER;
#endif
#if GATES == 4
      const float2 m_i =
          moments(gates, at, I_GATE, vectors, units, inverse_units);
#endif
      const float2 m_f =
          moments(gates, at, F_GATE, vectors, units, inverse_units);
      const float2 m_c =
          moments(gates, at, C_GATE, vectors, units, inverse_units);
      BARRIER;
#endif
      for (int p = FIRST; p < vectors; p += STEP) {
        const VECTOR before = LOAD(c + p * LANES);
        VECTOR f = LOAD(gates + GATE(at, p, F_GATE, vectors));
#if defined(PEEPHOLE) && !defined(NORM)
        f = PEEP(f, 1, before, p);
#endif
        f = FINISHED(f, m_f, F_GATE, p);
        f = OPENED(f);
#if GATES == 4
        VECTOR i = LOAD(gates + GATE(at, p, I_GATE, vectors));
#if defined(PEEPHOLE) && !defined(NORM)
        i = PEEP(i, 0, before, p);
#endif
        i = FINISHED(i, m_i, I_GATE, p);
        i = OPENED(i);
#else
        const VECTOR i = 1.0f - f;
#endif
        VECTOR g = LOAD(gates + GATE(at, p, C_GATE, vectors));
        g = FINISHED(g, m_c, C_GATE, p);
        g = ACTIVATED(g);
        const VECTOR after = limited(f * before + i * g, cell_clip);
        STORE(after, c + p * LANES);
#ifdef PEEPHOLE
        __global float* v = gates + GATE(at, p, O_GATE, vectors);
        const VECTOR o = LOAD(v);
        STORE(PEEP(o, 2, after, p), v);
#endif
      }
#ifdef NORM
      BARRIER;
      const float2 m_o =
          moments(gates, at, O_GATE, vectors, units, inverse_units);
#endif
      for (int p = FIRST; p < vectors; p += STEP) {
        VECTOR o = LOAD(gates + GATE(at, p, O_GATE, vectors));
        o = FINISHED(o, m_o, O_GATE, p);
        o = OPENED(o);
        const VECTOR after = LOAD(c + p * LANES);
        const VECTOR result = o * ACTIVATED(after);
        STORE(result, h + p * LANES);
#ifndef PROJECTION
        STORE_OUTPUT(result, r, p, units)
#endif
      }
    }
    BARRIER;

#ifdef PROJECTION
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      x[r] = hidden + min(r, rows - 1) * vectors * LANES;
    }
    for (int p = FIRST; p < output_vectors; p += STEP) {
      VECTOR sums[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) sums[r] = 0.0f;
      ADD_PRODUCTS(sums, 0, 1, 1, projection, p, units, output_vectors, x[r][k])
      const VECTOR bias =
          LOAD(parameters + PARAMETERS * vectors * LANES + p * LANES);
      for (int r = 0; r < rows; ++r) {
        const VECTOR result = limited(sums[r] + bias, proj_clip);
        STORE(result, state + r * state_step + p * LANES);
        STORE_OUTPUT(result, r, p, outputs)
      }
    }
    BARRIER;
#endif
  }

  for (int r = 0; r < rows; ++r) {
#ifdef STATE_OUT
    for (int i = FIRST; i < outputs; i += STEP) {
      TIM_STORE_REAL(STATE_OUT, last_state,
                     last_state_offset + (first + r) * outputs + i,
                     state[r * state_step + i], last_state_scale,
                     last_state_inverse, last_state_zero);
    }
#endif
#ifdef CELL_OUT
    for (int i = FIRST; i < units; i += STEP) {
      TIM_STORE_REAL(CELL_OUT, last_cell,
                     last_cell_offset + (first + r) * units + i,
                     cell[r * vectors * LANES + i], last_cell_scale,
                     last_cell_inverse, last_cell_zero);
    }
#endif
  }
}
