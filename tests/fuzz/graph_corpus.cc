// Graph files that the fuzzer begins with.
#include <cstddef>
#include <string_view>

#include "tests/fuzz/corpus.h"

namespace tim::testing {

std::vector<std::vector<std::byte>> Corpus() {
  constexpr std::string_view kTexts[] = {
      R"({"version": "3.14.0", "engine_kind": "cpu", "fpmath_mode": "strict",
"fpmath_mode_apply_to_int": "false", "input_ports": [0, 1], "output_ports": [3],
"graph": [
{"id": 0, "name": "product", "kind": "MatMul",
 "attrs": {"transpose_a": {"type": "bool", "value": 0},
  "accumulation_mode": {"type": "string", "value": "strict"}},
 "inputs": [{"id": 0, "dtype": "f32", "shape": [2, 3], "stride": [3, 1],
  "layout_type": "strided", "property_type": "variable"},
  {"id": 1, "dtype": "f32", "shape": [3, 4], "stride": [4, 1],
  "layout_type": "strided", "property_type": "constant"}],
 "outputs": [{"id": 2, "dtype": "f32", "shape": [2, 4], "stride": [4, 1],
  "layout_type": "strided", "property_type": "variable"}]},
{"id": 1, "name": "relu", "kind": "ReLU", "attrs": {},
 "inputs": [{"id": 2, "dtype": "f32", "shape": [2, 4], "stride": [4, 1],
  "layout_type": "strided", "property_type": "variable"}],
 "outputs": [{"id": 3, "dtype": "f32", "shape": [-9223372036854775808],
  "stride": [-9223372036854775808], "layout_type": "any",
  "property_type": "undef"}]}]})",
      R"({"graph": [
{"id": "0", "kind": "ConvolutionBackpropFilters",
 "attrs": {"strides": {"type": "s64[]", "value": [1, 1]},
  "pads_begin": {"type": "s64[]", "value": ["0", 0]},
  "pads_end": {"type": "s64[]", "value": [0, 0]},
  "dilations": {"type": "s64[]", "value": [1, 1]},
  "filter_shape": {"type": "s64[]", "value": [3, 3, 2, 3]}, "groups": 1},
 "inputs": [{"id": 1, "dtype": "f32", "shape": [1, 5, 5, 2]},
  {"id": 2, "dtype": "f32", "shape": [1, 3, 3, 3]}],
 "outputs": [{"id": 4, "dtype": "f32", "shape": [3, "3", 2, -1]}]}]})",
      R"({"engine_kind": "gpu", "fpmath_mode": "any", "graph": [
{"id": 7, "kind": "Dequantize", "attrs":
 {"scales": {"type": "f32[]", "value": [0.5, 1e-3]},
  "zps": {"type": "s64[]", "value": [0, -3]},
  "qtype": {"type": "string", "value": "per_channel"},
  "axis": {"type": "s64", "value": 0}},
 "inputs": [{"id": 1, "dtype": "s8", "shape": [2, 4], "stride": [1, 2],
  "layout_type": "strided", "property_type": "constant"}],
 "outputs": [{"id": 2, "dtype": "f32", "shape": [2, -1],
  "layout_type": "undef"}]},
{"id": 8, "kind": "Clamp", "attrs": {"min": {"type": "f32", "value": -inf},
 "max": {"type": "f32", "value": "0.5"}, "backend": {"type": "string",
 "value": "x"}},
 "inputs": [{"id": 2, "dtype": "f32", "shape": [-1, 4]}],
 "outputs": [{"id": 3, "dtype": "f32"}]},
{"id": 9, "kind": "Wildcard", "inputs": [{"id": 3}], "outputs": [{"id": 5}]},
{"id": 10, "kind": "Divide", "inputs": [{"id": 3, "dtype": "f32"},
 {"id": 6, "dtype": "f32", "shape": [], "property_type": "host_scalar"}],
 "outputs": [{"id": 7, "dtype": "bf16"}]},
{"id": 11, "kind": "End", "inputs": [{"id": 7}]}]})",
  };
  std::vector<std::vector<std::byte>> files;
  for (const std::string_view text : kTexts) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    files.emplace_back(bytes, bytes + text.size());
  }
  return files;
}

}  // namespace tim::testing
