// Runs kernels between guards, in dense and blocked layouts.
#include "tools/timcl/kernel_run.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/checked_math.h"
#include "device/host/host_buffer.h"

namespace tim::tool {
namespace {

constexpr int64_t kGuardBytes = 256;
constexpr std::byte kPoison{0xCD};

size_t ElementBytes(const ir::TensorDesc& desc) {
  return static_cast<size_t>(CeilDiv(ir::Info(desc.type).bits, 8));
}

// Element that is the real value 0.
Bytes ZeroOf(const ir::TensorDesc& desc) {
  Bytes zero(ElementBytes(desc), std::byte{0});
  const auto& points = desc.quantization.zero_points;
  const int32_t code = points.empty() ? 0 : points[0];
  std::memcpy(zero.data(), &code, std::min(zero.size(), sizeof(code)));
  return zero;
}

// Places of the dense elements, in their order: [W, H, C] in blocks along C is
// [block, W, H, blocks].
std::vector<size_t> PlacesOf(const ir::TensorDesc& desc) {
  std::vector<size_t> places;
  const ir::Layout& layout = desc.layout;
  const auto count = static_cast<size_t>(*desc.shape.NumElements());
  std::vector<int64_t> index(static_cast<size_t>(desc.shape.rank()), 0);
  for (size_t i = 0; i < count; ++i) {
    int64_t place = layout.blocked() ? index[layout.axis] % layout.block : 0;
    int64_t stride = layout.blocked() ? layout.block : 1;
    for (int d = 0; d < desc.shape.rank(); ++d) {
      const bool divided = layout.blocked() && d == layout.axis;
      place += (divided ? index[d] / layout.block : index[d]) * stride;
      stride *= divided ? CeilDiv(desc.shape[d], layout.block) : desc.shape[d];
    }
    places.push_back(static_cast<size_t>(place));
    for (int d = 0; d < desc.shape.rank(); ++d) {
      if (++index[d] < desc.shape[d]) break;
      index[d] = 0;
    }
  }
  return places;
}

std::string TextOf(const ir::LayoutTuple& tuple) {
  const auto list = [](const std::vector<ir::Layout>& layouts) {
    std::string text;
    for (const ir::Layout& layout : layouts) {
      text += StrCat(text.empty() ? "" : ", ", layout.ToString());
    }
    return text;
  };
  return StrCat(", ", list(tuple.inputs), " -> ", list(tuple.outputs));
}

}  // namespace

std::vector<LaidOutNode> LaidOut(const ir::KernelDef& kernel,
                                 const ir::KernelNode& node,
                                 const ir::DeviceInfo& info) {
  const auto problem = ir::Analyze(kernel, node, info);
  if (!problem.ok()) return {};
  std::vector<LaidOutNode> nodes;
  for (const auto& tuple : ir::LayoutsOf(kernel, *problem, node, info)) {
    LaidOutNode& laid = nodes.emplace_back();
    laid.node = node;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.present[i]) laid.node.inputs[i].layout = tuple.inputs[i];
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      laid.node.outputs[i].layout = tuple.outputs[i];
    }
    laid.node.anchor_output = laid.node.outputs[0];
    if (tuple != ir::DenseLayouts(node)) laid.layouts = TextOf(tuple);
  }
  return nodes;
}

Bytes InLayout(const ir::TensorDesc& desc, const Bytes& dense) {
  if (!desc.layout.blocked()) return dense;
  const size_t size = ElementBytes(desc);
  const auto bytes = ir::ByteSize(desc);
  Bytes laid(static_cast<size_t>(bytes.ok() ? *bytes : 0));
  const Bytes zero = ZeroOf(desc);
  for (size_t at = 0; at < laid.size(); at += size) {
    std::copy(zero.begin(), zero.end(), laid.begin() + at);
  }
  const std::vector<size_t> places = PlacesOf(desc);
  for (size_t i = 0; i < places.size(); ++i) {
    std::copy_n(dense.begin() + i * size, size,
                laid.begin() + places[i] * size);
  }
  return laid;
}

Result<Bytes> FromLayout(const ir::TensorDesc& desc, const Bytes& bytes) {
  if (!desc.layout.blocked()) return bytes;
  const size_t size = ElementBytes(desc);
  const std::vector<size_t> places = PlacesOf(desc);
  Bytes dense(places.size() * size);
  for (size_t i = 0; i < places.size(); ++i) {
    std::copy_n(bytes.begin() + places[i] * size, size,
                dense.begin() + i * size);
  }
  const Bytes again = InLayout(desc, dense);
  const auto differs = std::mismatch(again.begin(), again.end(), bytes.begin());
  if (differs.first == again.end()) return dense;
  return InvalidArgument(
      "a lane beyond the extent is not the real value 0, at byte ",
      differs.first - again.begin(), " of ", desc.layout.ToString());
}

Result<std::unique_ptr<KernelRun>> KernelRun::Create(
    std::shared_ptr<device::Device> device, const ir::KernelDef& kernel,
    const ir::KernelNode& node, const ir::OpRegistry& operators) {
  std::unique_ptr<KernelRun> run(new KernelRun());
  run->device_ = std::move(device);
  ir::KernelNode dense = node;
  for (auto* descs : {&dense.inputs, &dense.outputs}) {
    for (ir::TensorDesc& desc : *descs) desc.layout = ir::Layout::Dense();
  }
  const ir::DeviceInfo& info = run->device_->info();
  TIM_ASSIGN_OR_RETURN(const ir::KernelProblem problem,
                       ir::Analyze(kernel, dense, info));
  TIM_ASSIGN_OR_RETURN(run->lowering_, kernel.lower(problem, node, info));
  TIM_RETURN_IF_ERROR(run->Lay(node));
  std::vector<const ir::Action*> actions;
  for (const ir::LoweredStep& step : run->lowering_.steps) {
    actions.push_back(&step.action);
  }
  class NoStore final : public device::BinaryStore {
   public:
    std::optional<std::string> Load(std::string_view) override { return {}; }
    void Store(std::string_view, std::string_view) override {}
    bool keeps() const override { return false; }
    void CountBuild() override {}
  } store;
  TIM_ASSIGN_OR_RETURN(run->steps_,
                       run->device_->Prepare(actions, operators, store));
  TIM_ASSIGN_OR_RETURN(run->buffer_, run->device_->Allocate(
                                         run->bytes_, ir::MemoryKind::kDevice));
  TIM_ASSIGN_OR_RETURN(run->host_, device::HostBuffer::Create(run->bytes_));
  TIM_ASSIGN_OR_RETURN(run->stream_, run->device_->CreateStream());
  return run;
}

KernelRun::Place KernelRun::Add(int64_t bytes) {
  const int64_t alignment = std::max<int64_t>(device_->info().alignment, 64);
  const Place place{AlignUp(bytes_ + kGuardBytes, alignment), bytes};
  bytes_ = place.offset + bytes + kGuardBytes;
  return place;
}

// Constants lie where the other inputs do.
Status KernelRun::Lay(const ir::KernelNode& node) {
  input_descs_ = node.inputs;
  output_descs_ = node.outputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    int64_t bytes = 0;
    if (node.present[i]) {
      TIM_ASSIGN_OR_RETURN(bytes, ir::ByteSize(node.inputs[i]));
    }
    inputs_.push_back(Add(bytes));
  }
  for (const ir::TensorDesc& desc : node.outputs) {
    TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
    outputs_.push_back(Add(bytes));
  }
  for (const ir::ScratchSpec& scratch : lowering_.scratch) {
    scratch_.push_back(Add(scratch.bytes));
  }
  for (const ir::PackedConstant& packed : lowering_.packed) {
    packed_.push_back(Add(packed.bytes));
  }
  image_.assign(static_cast<size_t>(bytes_), kPoison);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.constants[i] == nullptr) continue;
    const auto* const data = node.constants[i]->bytes.data();
    const Bytes laid = InLayout(
        node.inputs[i], Bytes(data, data + node.constants[i]->bytes.size()));
    std::copy(laid.begin(), laid.end(), image_.begin() + inputs_[i].offset);
  }
  for (size_t i = 0; i < packed_.size(); ++i) {
    Bytes bytes(static_cast<size_t>(packed_[i].bytes));
    TIM_RETURN_IF_ERROR(lowering_.packed[i].pack(bytes));
    std::copy(bytes.begin(), bytes.end(), image_.begin() + packed_[i].offset);
  }
  return OkStatus();
}

KernelRun::Place KernelRun::PlaceOf(const ir::LoweredOperand& operand) const {
  const auto index = static_cast<size_t>(operand.index);
  switch (operand.kind) {
    case ir::LoweredOperand::Kind::kInput:
      return inputs_[index];
    case ir::LoweredOperand::Kind::kOutput:
      return outputs_[index];
    case ir::LoweredOperand::Kind::kScratch:
      return scratch_[index];
    case ir::LoweredOperand::Kind::kPacked:
      break;
  }
  return packed_[index];
}

Status KernelRun::Copy(bool to_device) {
  const device::BufferRange device{buffer_.get(), 0, bytes_};
  const device::BufferRange host{host_.get(), 0, bytes_};
  TIM_RETURN_IF_ERROR(to_device ? stream_->Copy(host, device)
                                : stream_->Copy(device, host));
  TIM_ASSIGN_OR_RETURN(const auto event, stream_->Record());
  return event->Wait();
}

Result<std::vector<Bytes>> KernelRun::Run(const std::vector<Bytes>& inputs) {
  Bytes image = image_;
  size_t next = 0;
  for (const Place& place : inputs_) {
    if (next >= inputs.size()) break;  // constants come last
    const Bytes laid = InLayout(input_descs_[next], inputs[next]);
    std::copy(laid.begin(), laid.end(), image.begin() + place.offset);
    ++next;
  }
  auto* const host = static_cast<std::byte*>(host_->host_address());
  std::copy(image.begin(), image.end(), host);
  TIM_RETURN_IF_ERROR(Copy(/*to_device=*/true));
  for (size_t i = 0; i < steps_.size(); ++i) {
    std::vector<device::BufferRange> operands;
    for (const ir::LoweredOperand& operand : lowering_.steps[i].operands) {
      const Place place = PlaceOf(operand);
      operands.push_back({buffer_.get(), place.offset, place.bytes});
    }
    if (steps_[i] == nullptr) {
      TIM_RETURN_IF_ERROR(stream_->Copy(operands[0], operands[1]));
    } else {
      TIM_RETURN_IF_ERROR(stream_->Enqueue(*steps_[i], operands));
    }
  }
  TIM_RETURN_IF_ERROR(Copy(/*to_device=*/false));
  std::vector<Bytes> results;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::byte* const at = host + outputs_[i].offset;
    auto dense =
        FromLayout(output_descs_[i], Bytes(at, at + outputs_[i].bytes));
    if (!dense.ok()) return dense.status().WithContext(StrCat("output ", i));
    results.push_back(*std::move(dense));
  }
  // All but outputs and scratch is as it was.
  for (const auto* places : {&outputs_, &scratch_}) {
    for (const Place& place : *places) {
      std::copy(image.begin() + place.offset,
                image.begin() + place.offset + place.bytes,
                host + place.offset);
    }
  }
  const auto differs = std::mismatch(image.begin(), image.end(), host);
  if (differs.first == image.end()) return results;
  return InvalidArgument("it writes outside of its outputs, at byte ",
                         differs.first - image.begin(), " of ", bytes_);
}

}  // namespace tim::tool
