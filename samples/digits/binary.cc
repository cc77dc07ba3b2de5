#include "binary.h"

#include <cstring>

#include "tim/lite/execution.h"
#include "tim/vx/error.h"
#include "tim/vx/ops/nbg.h"

namespace digits {
namespace {

// A call into tim::vx or tim::lite failed: the library knows the reason.
bool Fail(const std::string& what, std::string* error) {
  *error = "binary, " + what + ": " + tim::vx::LastError();
  return false;
}

std::vector<std::uint8_t> InputOf(const Lenet& like, const std::uint8_t* pixels,
                                  std::size_t digit) {
  const std::uint8_t* first = pixels + digit * kPixels;
  return InputBytes(like, std::vector<std::uint8_t>(first, first + kPixels));
}

}  // namespace

bool WriteBinary(tim::vx::Context* context, const TensorFile& model,
                 std::vector<char>* binary, std::string* error) {
  Lenet net;
  if (!BuildLenet(context, model, 1, &net, error)) return false;
  std::size_t size = 0;  // first asked for, then written
  if (!net.graph->CompileToBinary(nullptr, &size)) return Fail("size", error);
  binary->resize(size);
  if (!net.graph->CompileToBinary(binary->data(), &size)) {
    return Fail("write", error);
  }
  return true;
}

bool ClassifyByGraph(tim::vx::Context* context, const std::vector<char>& binary,
                     const Lenet& like, const std::uint8_t* pixels,
                     std::size_t count, std::vector<Probabilities>* result,
                     std::string* error) {
  auto graph = context->CreateGraph();
  auto input = graph->CreateTensor(like.input->GetSpec());
  auto output = graph->CreateTensor(like.output->GetSpec());
  auto network = graph->CreateOperation<tim::vx::ops::NBG>(binary.data(), 1, 1);
  (*network).BindInput(input).BindOutput(output);
  if (!graph->Compile()) return Fail("compile", error);
  for (std::size_t i = 0; i < count; ++i) {
    Probabilities p;
    if (!input->CopyDataToTensor(InputOf(like, pixels, i).data()) ||
        !graph->Run() || !output->CopyDataFromTensor(p.data())) {
      return Fail("run", error);
    }
    result->push_back(p);
  }
  return true;
}

bool ClassifyByLite(const std::vector<char>& binary, const Lenet& like,
                    const std::uint8_t* pixels, std::size_t count,
                    std::vector<Probabilities>* result, std::string* error) {
  // Memory that devices use in place begins at a multiple of 64 bytes.
  alignas(64) std::uint8_t in[kPixels * sizeof(float)] = {};
  alignas(64) std::uint8_t out[kClasses * sizeof(float)] = {};
  auto network = tim::lite::Execution::Create(binary.data(), binary.size());
  if (network == nullptr) return Fail("load", error);
  const std::size_t in_bytes = InputOf(like, pixels, 0).size();
  auto input = network->CreateInputHandle(0, in, in_bytes);
  auto output = network->CreateOutputHandle(0, out, sizeof(out));
  if (input == nullptr || output == nullptr) return Fail("handles", error);
  network->BindInputs({input}).BindOutputs({output});
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(in, InputOf(like, pixels, i).data(), in_bytes);
    if (!input->Flush() || !network->Trigger() || !output->Invalidate()) {
      return Fail("trigger", error);
    }
    Probabilities p;
    std::memcpy(p.data(), out, sizeof(out));
    result->push_back(p);
  }
  return true;
}

}  // namespace digits
