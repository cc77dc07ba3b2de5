// A small TFLite model in a file, written by the numbers of the format's
// fields.
#ifndef TIM_TESTS_TOOLS_TFLITE_FILES_H_
#define TIM_TESTS_TOOLS_TFLITE_FILES_H_

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/structure/source_tree.h"

namespace tim::tool {

/// Writes tables whose fields have numbers.
class TfliteFile {
 public:
  using Table = flatbuffers::Offset<void>;
  using Tables = std::vector<Table>;

  /// relu() of codes: "image" and "scores", uint8 [1,2,2,3] of scale 0.5 and
  /// zero point 128; the signature "serve" calls them "in" and "out".
  static std::string WriteRelu(const std::string& folder) {
    TfliteFile file;
    const Tables tensors = {file.Tensor("image"), file.Tensor("scores")};
    const Table code = file.Make({{0, int8_t{19}}}, {}, {{3, 19}});
    const Table relu =
        file.Make({}, {{1, file.Ints({0})}, {2, file.Ints({1})}}, {});
    const Table graph = file.Make({},
                                  {{0, file.List(tensors)},
                                   {1, file.Ints({0})},
                                   {2, file.Ints({1})},
                                   {3, file.List({relu})}},
                                  {});
    const Table signature = file.Make({},
                                      {{0, file.List({file.Named("in", 0)})},
                                       {1, file.List({file.Named("out", 1)})},
                                       {2, file.Text("serve")}},
                                      {});
    const Table empty = file.Make({}, {}, {});
    const Table model = file.Make({},
                                  {{1, file.List({code})},
                                   {2, file.List({graph})},
                                   {4, file.List({empty})},
                                   {7, file.List({signature})}},
                                  {{0, 3}});
    file.builder_.Finish(model, "TFL3");
    std::string path = folder + "/relu.tflite";
    structure::WriteText(
        path, {reinterpret_cast<const char*>(file.builder_.GetBufferPointer()),
               file.builder_.GetSize()});
    return path;
  }

 private:
  template <typename T>
  struct Field {
    int number;
    T value;
  };

  Table Make(const std::vector<Field<int8_t>>& bytes,
             const std::vector<Field<Table>>& offsets,
             const std::vector<Field<int32_t>>& ints) {
    const auto start = builder_.StartTable();
    for (const auto& field : offsets) {
      builder_.AddOffset(PlaceOf(field.number), field.value);
    }
    for (const auto& field : ints) {
      builder_.AddElement<int32_t>(PlaceOf(field.number), field.value, 0);
    }
    for (const auto& field : bytes) {
      builder_.AddElement<int8_t>(PlaceOf(field.number), field.value, 0);
    }
    return builder_.EndTable(start);
  }
  static flatbuffers::voffset_t PlaceOf(int field) {
    return static_cast<flatbuffers::voffset_t>(4 + 2 * field);
  }
  Table Text(const std::string& text) {
    return builder_.CreateString(text).Union();
  }
  Table Ints(const std::vector<int32_t>& values) {
    return builder_.CreateVector(values).Union();
  }
  Table List(const Tables& tables) {
    return builder_.CreateVector(tables).Union();
  }
  Table Named(const std::string& name, int32_t tensor) {
    return Make({}, {{0, Text(name)}}, {{1, tensor}});
  }
  Table Tensor(const std::string& name) {
    const Table scale = builder_.CreateVector(std::vector<float>{0.5f}).Union();
    const Table zero = builder_.CreateVector(std::vector<int64_t>{128}).Union();
    const Table quantization = Make({}, {{2, scale}, {3, zero}}, {});
    const Table shape = Ints({1, 2, 2, 3});
    return Make({{1, int8_t{3}}},
                {{0, shape}, {3, Text(name)}, {4, quantization}}, {});
  }

  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace tim::tool

#endif  // TIM_TESTS_TOOLS_TFLITE_FILES_H_
