// Results that follow from constants and extents alone, and nodes that
// only hand on what they read.
#include "models/onnx/exact.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/fork/keep_one.h"
#include "models/onnx/element_type.h"

namespace tim::models::onnx {
namespace {

// An attribute of Constant as an array.
bool ConstantOf(const Node& node, HostArray* array) {
  if (node.attributes.size() != 1) return false;
  const auto& [name, attribute] = *node.attributes.begin();
  if (const auto* tensor = std::get_if<HostArray>(&attribute)) {
    *array = *tensor;
  } else if (const auto* i = std::get_if<int64_t>(&attribute)) {
    *array = ArrayOf(std::vector<int64_t>{*i}, {});
  } else if (const auto* f = std::get_if<float>(&attribute)) {
    *array = ArrayOf(std::vector<float>{*f}, {});
  } else if (const auto* is = std::get_if<std::vector<int64_t>>(&attribute)) {
    *array = ArrayOf(*is, {static_cast<int64_t>(is->size())});
  } else if (const auto* fs = std::get_if<std::vector<float>>(&attribute)) {
    *array = ArrayOf(*fs, {static_cast<int64_t>(fs->size())});
  } else {
    return false;
  }
  return name.starts_with("value") || name == "sparse_value";
}

bool SetDropout(Node* node) {
  if (node->opset >= 12 && node->Has(2)) {
    const auto training = node->ConstantInts(2);
    if (!training.ok() || training->size() != 1 || training->front() != 0) {
      return false;
    }
  }
  if (node->Wants(1)) {
    const int64_t count = node->inputs[0].ElementCount();
    // Larger masks have the limits of the node function.
    if (node->opset < 10 || count <= 0 || !AreFew(node->inputs[0].dims)) {
      return false;
    }
    auto ones = std::make_shared<const std::vector<uint8_t>>(
        static_cast<size_t>(count), uint8_t{1});
    node->outputs.resize(2);
    node->outputs[1] = node->builder->Constant(
        HostArray{vx::DataType::BOOL8, node->inputs[0].dims, ones->size(),
                  std::shared_ptr<const void>(ones, ones->data())});
  }
  return node->SetOutput(0, node->inputs[0]).ok();
}

bool SetShape(Node* node) {
  if (!node->Has(0)) return false;
  const Dims& dims = node->inputs[0].dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const auto place = [&](const char* name, int64_t otherwise) {
    const auto given = node->Int(name, otherwise);
    const int64_t at = given.ok() ? *given : otherwise;
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t begin = place("start", 0);
  const int64_t end = std::max(begin, place("end", rank));
  const std::vector<int64_t> part(dims.begin() + begin, dims.begin() + end);
  return SetConstant(node, ArrayOf(part, {end - begin}));
}

bool SetSize(Node* node) {
  if (!node->Has(0)) return false;
  const std::vector<int64_t> count = {node->inputs[0].ElementCount()};
  return SetConstant(node, ArrayOf(count, {}));
}

const ExactTable& Table() {
  static constinit std::atomic<const ExactTable*> table = nullptr;
  return KeepOne(table, [] {
    ExactTable made = {{"Shape", &SetShape}, {"Size", &SetSize}};
    AddExactArithmetic(&made);
    AddExactFunctions(&made);
    AddExactMoves(&made);
    return made;
  });
}

}  // namespace

const HostArray* SmallConstant(const Node& node, size_t input) {
  if (!node.Has(input)) return nullptr;
  const HostArray* array = node.inputs[input].constant.get();
  return array != nullptr && AreFew(array->dims) ? array : nullptr;
}

bool AreFew(const Dims& dims) {
  int64_t count = 1;
  bool is_empty = false;
  for (const int64_t extent : dims) {
    if (extent < 0) return false;
    if (extent == 0) is_empty = true;
    if (extent > kMostFoldedElements) return false;
    if (extent != 0) count *= extent;
    if (count > kMostFoldedElements) return false;
  }
  return is_empty || count <= kMostFoldedElements;
}

bool SetConstant(Node* node, HostArray array) {
  return node->SetOutput(0, node->builder->Constant(std::move(array))).ok();
}

bool EvaluateExactly(Node* node) {
  if (!node->domain.empty()) return false;
  const auto found = Table().find(node->op);
  if (found == Table().end()) return false;
  const size_t wanted = node->wanted_outputs.size();
  std::vector<Value> before = node->outputs;
  if (found->second(node) && node->outputs.size() >= wanted) return true;
  node->outputs = std::move(before);
  return false;
}

bool SetAliases(Node* node) {
  if (!node->domain.empty()) return false;
  if (node->op == "Constant") {
    HostArray array;
    return ConstantOf(*node, &array) && SetConstant(node, std::move(array));
  }
  if (!node->Has(0)) return false;
  if (node->op == "Identity") {
    return node->SetOutput(0, node->inputs[0]).ok();
  }
  if (node->op == "Dropout") return SetDropout(node);
  if (node->op == "Cast") {
    const auto to = node->Int("to", 0);
    if (!to.ok()) return false;
    const auto type = DataTypeOf(*to);
    if (!type.ok() || *type != node->inputs[0].type) return false;
    const auto& constant = node->inputs[0].constant;
    if (constant != nullptr && constant->doubles != nullptr) return false;
    return node->SetOutput(0, node->inputs[0]).ok();
  }
  return false;
}

}  // namespace tim::models::onnx
