// The C boundary: names of enumerators and the library's version.
#include "tim/graph/c.h"

namespace {

struct Name {
  int number;
  const char* text;
};

template <int count>
const char* Find(const Name (&names)[count], int number, const char* unknown) {
  for (const Name& name : names) {
    if (name.number == number) return name.text;
  }
  return unknown;
}

}  // namespace

const char* tim_graph_status2str(tim_graph_status_t status) {
  static constexpr Name kNames[] = {
      {tim_graph_success, "success"},
      {tim_graph_out_of_memory, "out_of_memory"},
      {tim_graph_invalid_arguments, "invalid_arguments"},
      {tim_graph_unimplemented, "unimplemented"},
      {tim_graph_last_impl_reached, "last_impl_reached"},
      {tim_graph_runtime_error, "runtime_error"},
      {tim_graph_not_required, "not_required"},
      {tim_graph_invalid_graph, "invalid_graph"},
      {tim_graph_invalid_graph_op, "invalid_graph_op"},
      {tim_graph_invalid_shape, "invalid_shape"},
      {tim_graph_invalid_data_type, "invalid_data_type"}};
  return Find(kNames, status, "unknown status");
}

const char* tim_graph_dt2str(tim_graph_data_type_t type) {
  static constexpr Name kNames[] = {{tim_graph_data_type_undef, "undef"},
                                    {tim_graph_f16, "f16"},
                                    {tim_graph_bf16, "bf16"},
                                    {tim_graph_f32, "f32"},
                                    {tim_graph_s32, "s32"},
                                    {tim_graph_s8, "s8"},
                                    {tim_graph_u8, "u8"},
                                    {tim_graph_f64, "f64"},
                                    {tim_graph_boolean, "boolean"},
                                    {tim_graph_f8_e5m2, "f8_e5m2"},
                                    {tim_graph_f8_e4m3, "f8_e4m3"},
                                    {tim_graph_s4, "s4"},
                                    {tim_graph_u4, "u4"},
                                    {tim_graph_e8m0, "e8m0"},
                                    {tim_graph_f4_e2m1, "f4_e2m1"},
                                    {tim_graph_f4_e3m0, "f4_e3m0"},
                                    {tim_graph_s64, "s64"}};
  return Find(kNames, type, "unknown data type");
}

const char* tim_graph_engine_kind2str(tim_graph_engine_kind_t kind) {
  static constexpr Name kNames[] = {{tim_graph_any_engine, "any"},
                                    {tim_graph_cpu, "cpu"},
                                    {tim_graph_gpu, "gpu"}};
  return Find(kNames, kind, "unknown engine kind");
}

const char* tim_graph_fpmath_mode2str(tim_graph_fpmath_mode_t mode) {
  static constexpr Name kNames[] = {{tim_graph_fpmath_mode_strict, "strict"},
                                    {tim_graph_fpmath_mode_bf16, "bf16"},
                                    {tim_graph_fpmath_mode_f16, "f16"},
                                    {tim_graph_fpmath_mode_any, "any"},
                                    {tim_graph_fpmath_mode_tf32, "tf32"}};
  return Find(kNames, mode, "unknown fpmath mode");
}

// Version and run times are those of the API that this one is compatible with.
const tim_graph_version_t* tim_graph_version(void) {
  constexpr unsigned kSequential = 1;
  constexpr unsigned kOpenCl = 256;
  static constexpr tim_graph_version_t kVersion = {
      3, 14, 0, "tim-cl", kSequential, kOpenCl};
  return &kVersion;
}
