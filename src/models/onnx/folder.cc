// Runs single nodes on the host while a model is read.
#include "models/onnx/folder.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/fork/keep_one.h"
#include "models/onnx/exact.h"
#include "tim/vx/compile_option.h"
#include "tim/vx/platform/platform.h"

namespace tim::models::onnx {
namespace {

constexpr int64_t kMostReadElements = 1'048'576;

// Operators whose nodes stay nodes: they have no operands that make them what
// they are, or the compiler looks for them.
bool StaysNode(const Node& node) {
  static constexpr std::string_view kNames[] = {
      "Bernoulli",        "DequantizeLinear", "DynamicQuantizeLinear",
      "Multinomial",      "QuantizeLinear",   "RandomNormal",
      "RandomNormalLike", "RandomUniform",    "RandomUniformLike"};
  return std::find(std::begin(kNames), std::end(kNames), node.op) !=
         std::end(kNames);
}

bool AllKnown(const Node& node) {
  int64_t elements = 0;
  for (const Value& input : node.inputs) {
    if (input.IsAbsent()) continue;
    if (input.constant == nullptr) return false;
    elements += input.constant->ElementCount();
  }
  return !node.inputs.empty() && elements <= kMostReadElements;
}

// The host, as CompileOption numbers devices: the last one.
vx::CompileOption OnHost() {
  static constinit std::atomic<const size_t*> count = nullptr;
  const size_t devices =
      KeepOne(count, [] { return vx::platform::IDevice::Enumerate().size(); });
  vx::CompileOption option;
  if (devices > 0) option.setDeviceId(static_cast<uint32_t>(devices - 1));
  return option;
}

Result<HostArray> ContentOf(const Port& port) {
  const int64_t bytes = ByteSizeOf(port.type, port.dims);
  if (bytes <= 0) return InvalidArgument("no content");
  auto words = std::make_shared<std::vector<uint64_t>>(
      static_cast<size_t>(bytes) / sizeof(uint64_t) + 1);
  if (!port.tensor->CopyDataFromTensor(words->data())) {
    return FailedPrecondition("no content");
  }
  return HostArray{port.type, port.dims, static_cast<size_t>(bytes),
                   std::shared_ptr<const void>(words, words->data())};
}

}  // namespace

bool Folder::Fold(Node* node, NodeFunction function) const {
  if (EvaluateExactly(node)) return true;
  if (function == nullptr || !AllKnown(*node) || StaysNode(*node)) return false;
  return FoldByGraph(node, function);
}

bool Folder::FoldByGraph(Node* node, NodeFunction function) const {
  GraphBuilder builder(context_->CreateGraph(OnHost()));
  Node copy = *node;
  std::vector<std::string> warnings;
  copy.builder = &builder;
  copy.warnings = &warnings;
  for (Value& input : copy.inputs) input.tensor = nullptr;
  if (!function(copy).ok()) return false;
  copy.outputs.resize(node->wanted_outputs.size());
  std::vector<size_t> computed;
  for (size_t i = 0; i < copy.outputs.size(); ++i) {
    if (!node->Wants(i)) continue;
    const Value& made = copy.outputs[i];
    if (made.IsAbsent() || made.ElementCount() > kMostFoldedElements) {
      return false;
    }
    if (made.constant != nullptr) continue;
    if (!builder.AddOutput(StrCat("output", i), made).ok()) return false;
    computed.push_back(i);
  }
  if (!computed.empty() &&
      !(builder.graph()->Compile() && builder.graph()->Run())) {
    return false;
  }
  for (size_t i = 0; i < computed.size(); ++i) {
    auto content = ContentOf(builder.outputs()[i]);
    if (!content.ok()) return false;
    Value& made = copy.outputs[computed[i]];
    made = builder.Constant(*std::move(content), made.name, made.quantization);
  }
  for (Value& made : copy.outputs) made.tensor = nullptr;
  node->outputs = std::move(copy.outputs);
  for (std::string& warning : warnings) {
    node->warnings->push_back(std::move(warning));
  }
  return true;
}

}  // namespace tim::models::onnx
