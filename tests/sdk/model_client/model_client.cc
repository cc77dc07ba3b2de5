// A client of the importers: an ONNX model of one node, made by hand, and bytes
// that are no model.
#include <cstdio>
#include <string>
#include <vector>

#include "tim/models/onnx.h"
#include "tim/models/tflite.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"

namespace {

// A field of bytes in protobuf's wire format; all are short here.
std::string Bytes(int number, const std::string& content) {
  return static_cast<char>(number << 3 | 2) +
         (static_cast<char>(content.size()) + content);
}
std::string Number(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

// A tensor of four floats.
std::string ValueInfo(const std::string& name) {
  const std::string shape = Bytes(1, Number(1, 4));
  return Bytes(1, name) + Bytes(2, Bytes(1, Number(1, 1) + Bytes(2, shape)));
}

std::string ReluModel() {
  const std::string node = Bytes(1, "x") + Bytes(2, "y") + Bytes(4, "Relu");
  const std::string graph = Bytes(1, node) + Bytes(2, "g") +
                            Bytes(11, ValueInfo("x")) +
                            Bytes(12, ValueInfo("y"));
  return Number(1, 8) + Bytes(7, graph) + Bytes(8, Number(2, 13));
}

}  // namespace

int main() {
  const auto context = tim::vx::Context::Create();
  const std::string bytes = ReluModel();
  const tim::models::Model model =
      tim::models::ParseOnnx(context, bytes.data(), bytes.size());
  if (!model) return std::puts(model.error.c_str()), 1;
  const std::vector<float> input = {-1, 2, -3, 4};
  std::vector<float> output(4);
  if (model.inputs.size() != 1 || model.outputs.size() != 1 ||
      !model.inputs[0].tensor->CopyDataToTensor(input.data()) ||
      !model.graph->Compile() || !model.graph->Run() ||
      !model.outputs[0].tensor->CopyDataFromTensor(output.data())) {
    return 1;
  }
  if (output != std::vector<float>{0, 2, 0, 4}) return 1;
  const tim::models::Model none =
      tim::models::ParseTflite(context, bytes.data(), bytes.size());
  if (none || none.error.empty()) return 1;
  std::puts("model_client: right");
  return 0;
}
