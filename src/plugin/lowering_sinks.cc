// Sinks of kernels: layouts, operands, steps.  Everything that is given is
// checked.
#include <limits>
#include <span>
#include <utility>

#include "plugin/sinks.h"
#include "plugin/tables.h"

namespace tim::plugin {
namespace {

constexpr uint32_t kMostOperands = 4096;

Status CheckList(const char* what, const void* list, uint64_t count) {
  if (count > kMostOperands) {
    return InvalidArgument(count, " ", what, "; at most ", kMostOperands);
  }
  if (count > 0 && list == nullptr) {
    return InvalidArgument(count, " ", what, " in no array");
  }
  return OkStatus();
}

Status AddLayoutsOf(const char* what, const TimTensorDesc* const* descs,
                    uint32_t count, const std::vector<ir::TensorDesc>& own,
                    std::vector<ir::Layout>* layouts) {
  if (count != own.size() || (count > 0 && descs == nullptr)) {
    return InvalidArgument("layouts of ", count, " ", what, ", the node has ",
                           own.size());
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (descs[i] == nullptr) {
      layouts->push_back(ir::Layout::Dense());
      continue;
    }
    TIM_ASSIGN_OR_RETURN(ir::Layout layout, LayoutOf(*descs[i]));
    if (layout.blocked() && layout.axis >= own[i].shape.rank()) {
      return InvalidArgument(what, " ", i, ": blocks along axis ", layout.axis,
                             " of a tensor of rank ", own[i].shape.rank());
    }
    layouts->push_back(std::move(layout));
  }
  return OkStatus();
}

Status AddOperand(TimLowering* sink, ir::LoweredOperand operand,
                  uint32_t* number) {
  if (number == nullptr) return InvalidArgument("no room for an operand");
  for (size_t i = 0; i < sink->operands.size(); ++i) {
    if (sink->operands[i] != operand) continue;
    *number = static_cast<uint32_t>(i);
    return OkStatus();
  }
  if (sink->operands.size() >= kMostOperands) {
    return InvalidArgument("more than ", kMostOperands, " operands");
  }
  *number = static_cast<uint32_t>(sink->operands.size());
  sink->operands.push_back(operand);
  return OkStatus();
}

Status CheckBytes(const TimLowering& sink, const char* what, uint64_t bytes) {
  if (bytes <= static_cast<uint64_t>(sink.info->max_allocation_bytes)) {
    return OkStatus();
  }
  return InvalidArgument(what, " of ", bytes, " bytes; the device allocates ",
                         sink.info->max_allocation_bytes, " at most");
}

// The packing of a constant; its state is dropped with it.
class Packing {
 public:
  Packing(std::shared_ptr<const LoadedPlugin> plugin, TimPackFn function,
          void* state, void (*drop)(void*))
      : plugin_(std::move(plugin)),
        function_(function),
        state_(state),
        drop_(drop) {}
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;
  ~Packing() { plugin_->Tell("TimSinkFns::add_packed drop", drop_, state_); }

  Status Run(std::span<std::byte> out) const {
    std::vector<TimBytes> bytes;
    for (const ConstantBytes& source : sources) {
      bytes.push_back({source->bytes.data(), source->bytes.size()});
    }
    return plugin_->Call("TimPackFn", function_, state_,
                         static_cast<const TimBytes*>(bytes.data()),
                         static_cast<uint32_t>(bytes.size()),
                         static_cast<void*>(out.data()),
                         static_cast<uint64_t>(out.size()));
  }

  std::vector<ConstantBytes> sources;

 private:
  const std::shared_ptr<const LoadedPlugin> plugin_;
  const TimPackFn function_;
  void* const state_;
  void (*const drop_)(void*);
};

// The operands of a step, and which of them it writes.
Status AddOperands(const TimLowering& sink, const uint32_t* operands,
                   const uint8_t* written, uint32_t count,
                   ir::LoweredStep* step) {
  TIM_RETURN_IF_ERROR(CheckList("operands", operands, count));
  TIM_RETURN_IF_ERROR(CheckList("operands", written, count));
  for (uint32_t i = 0; i < count; ++i) {
    if (operands[i] >= sink.operands.size()) {
      return InvalidArgument("a step with operand ", operands[i], " of ",
                             sink.operands.size());
    }
    const ir::LoweredOperand& operand = sink.operands[operands[i]];
    const bool read_only = operand.kind == ir::LoweredOperand::Kind::kInput ||
                           operand.kind == ir::LoweredOperand::Kind::kPacked;
    if (written[i] != 0 && read_only) {
      return InvalidArgument("a step that writes operand ", i,
                             ", which is only read");
    }
    step->operands.push_back(operand);
    step->written.push_back(written[i] != 0);
  }
  return OkStatus();
}

Result<ir::NdRange> RangeOf(const TimOpenClStep& given) {
  if (given.dimensions < 1 || given.dimensions > 3) {
    return InvalidArgument("a launch of ", given.dimensions, " dimensions");
  }
  ir::NdRange range;
  range.dimensions = static_cast<int>(given.dimensions);
  constexpr auto kMost =
      static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
  for (uint32_t i = 0; i < given.dimensions; ++i) {
    if (given.global[i] < 1 || given.global[i] > kMost ||
        given.local[i] > kMost) {
      return InvalidArgument("a launch of ", given.global[i],
                             " items in groups of ", given.local[i]);
    }
    range.global[i] = static_cast<int64_t>(given.global[i]);
    range.local[i] = static_cast<int64_t>(given.local[i]);
  }
  return range;
}

Status AddArguments(const TimOpenClStep& given, ir::KernelLaunch* launch) {
  TIM_RETURN_IF_ERROR(
      CheckList("element sizes", given.element_bytes, given.operand_count));
  TIM_RETURN_IF_ERROR(CheckList("integers", given.ints, given.int_count));
  TIM_RETURN_IF_ERROR(CheckList("numbers", given.floats, given.float_count));
  TIM_RETURN_IF_ERROR(
      CheckList("local memories", given.local_bytes, given.local_count));
  for (uint32_t i = 0; i < given.operand_count; ++i) {
    const int32_t bytes = given.element_bytes[i];
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
      return InvalidArgument("operand ", i, " of elements of ", bytes,
                             " bytes");
    }
    launch->arguments.emplace_back(
        ir::TensorArg{.operand = static_cast<int>(i), .element_bytes = bytes});
  }
  for (uint32_t i = 0; i < given.int_count; ++i) {
    launch->arguments.emplace_back(given.ints[i]);
  }
  for (uint32_t i = 0; i < given.float_count; ++i) {
    launch->arguments.emplace_back(given.floats[i]);
  }
  for (uint32_t i = 0; i < given.local_count; ++i) {
    if (given.local_bytes[i] > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("local memory of ", given.local_bytes[i],
                             " bytes");
    }
    launch->arguments.emplace_back(
        ir::LocalArg{.bytes = static_cast<int64_t>(given.local_bytes[i])});
  }
  return OkStatus();
}

}  // namespace

TimCode AddLayoutsTo(TimLayouts* sink, const TimTensorDesc* const* inputs,
                     uint32_t input_count, const TimTensorDesc* const* outputs,
                     uint32_t output_count) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (sink->tuples.size() >= kMostOperands) {
      return InvalidArgument("more than ", kMostOperands, " layouts");
    }
    ir::LayoutTuple tuple;
    TIM_RETURN_IF_ERROR(AddLayoutsOf("inputs", inputs, input_count,
                                     sink->node->inputs, &tuple.inputs));
    TIM_RETURN_IF_ERROR(AddLayoutsOf("outputs", outputs, output_count,
                                     sink->node->outputs, &tuple.outputs));
    sink->tuples.push_back(std::move(tuple));
    return OkStatus();
  });
}

TimCode AddScratchTo(TimLowering* sink, uint64_t bytes, uint32_t first_step,
                     uint32_t last_step, uint32_t* operand) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    TIM_RETURN_IF_ERROR(CheckBytes(*sink, "scratch", bytes));
    if (first_step > last_step || last_step > kMostOperands) {
      return InvalidArgument("scratch from step ", first_step, " to ",
                             last_step);
    }
    auto& scratch = sink->lowering.scratch;
    const auto index = static_cast<int>(scratch.size());
    TIM_RETURN_IF_ERROR(AddOperand(
        sink, {.kind = ir::LoweredOperand::Kind::kScratch, .index = index},
        operand));
    scratch.push_back({.bytes = static_cast<int64_t>(bytes),
                       .first = static_cast<int>(first_step),
                       .last = static_cast<int>(last_step)});
    return OkStatus();
  });
}

TimCode AddPackedTo(TimLowering* sink, const char* id, const uint32_t* inputs,
                    uint32_t input_count, uint64_t bytes, TimPackFn pack,
                    void* state, void (*drop)(void*), uint32_t* operand) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    const auto packing =
        std::make_shared<Packing>(sink->plugin, pack, state, drop);
    if (id == nullptr || pack == nullptr) {
      return InvalidArgument("a packed constant without an id or a function");
    }
    TIM_RETURN_IF_ERROR(CheckBytes(*sink, "a packed constant", bytes));
    TIM_RETURN_IF_ERROR(CheckList("constants to pack", inputs, input_count));
    ir::PackedConstant packed;
    packed.id = StrCat(sink->plugin->kind(), ".", id);
    packed.bytes = static_cast<int64_t>(bytes);
    for (uint32_t i = 0; i < input_count; ++i) {
      const auto& constants = sink->node->constants;
      if (inputs[i] >= constants.size() || constants[inputs[i]] == nullptr) {
        return InvalidArgument("a packed constant is made of input ", inputs[i],
                               ", which is no constant");
      }
      packed.sources.push_back(static_cast<int>(inputs[i]));
      packing->sources.push_back(constants[inputs[i]]);
    }
    packed.pack = [packing](std::span<std::byte> out) {
      return packing->Run(out);
    };
    const auto index = static_cast<int>(sink->lowering.packed.size());
    TIM_RETURN_IF_ERROR(AddOperand(
        sink, {.kind = ir::LoweredOperand::Kind::kPacked, .index = index},
        operand));
    sink->lowering.packed.push_back(std::move(packed));
    return OkStatus();
  });
}

TimCode InputOperandOf(TimLowering* sink, uint32_t input, uint32_t* operand) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (input >= sink->node->inputs.size() || !sink->node->present[input]) {
      return InvalidArgument("input ", input, " is absent");
    }
    return AddOperand(sink,
                      {.kind = ir::LoweredOperand::Kind::kInput,
                       .index = static_cast<int>(input)},
                      operand);
  });
}

TimCode OutputOperandOf(TimLowering* sink, uint32_t output, uint32_t* operand) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (output >= sink->node->outputs.size() ||
        sink->node->node->outputs[output] == ir::kNone) {
      return InvalidArgument("output ", output, " is absent");
    }
    return AddOperand(sink,
                      {.kind = ir::LoweredOperand::Kind::kOutput,
                       .index = static_cast<int>(output)},
                      operand);
  });
}

TimCode AddStepTo(TimLowering* sink, const char* name, TimBytes payload,
                  const uint32_t* operands, const uint8_t* written,
                  uint32_t operand_count) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (sink->opencl) {
      return InvalidArgument(
          "a step of the plug-in's own device in a kernel "
          "for OpenCL devices");
    }
    if (name == nullptr || name[0] == 0) {
      return InvalidArgument("a step without a name");
    }
    if (payload.bytes > ir::kMaxPayloadBytes ||
        (payload.bytes > 0 && payload.data == nullptr)) {
      return InvalidArgument("a payload of ", payload.bytes,
                             " bytes; it may have ", ir::kMaxPayloadBytes);
    }
    ir::LoweredStep step;
    TIM_RETURN_IF_ERROR(
        AddOperands(*sink, operands, written, operand_count, &step));
    step.action = ir::DeviceCall{
        .name = name,
        .payload = payload.bytes == 0
                       ? std::string()
                       : std::string(static_cast<const char*>(payload.data),
                                     payload.bytes)};
    sink->lowering.steps.push_back(std::move(step));
    return OkStatus();
  });
}

TimCode AddOpenClStepTo(TimLowering* sink, const TimOpenClStep* step,
                        const uint8_t* written) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (!sink->opencl) {
      return InvalidArgument("an OpenCL step in a kernel for devices of kind ",
                             sink->plugin->kind());
    }
    const TimOpenClStep given = CopyKnown(step);
    if (given.text == nullptr || given.text[0] == 0 ||
        given.function == nullptr || given.function[0] == 0) {
      return InvalidArgument("an OpenCL step without a text or a function");
    }
    ir::KernelLaunch launch;
    launch.source =
        StrCat("plug-in ", sink->plugin->kind(), ", kernel ", sink->kernel);
    launch.text = given.text;
    launch.function = given.function;
    launch.options = given.options == nullptr ? "" : given.options;
    TIM_ASSIGN_OR_RETURN(launch.range, RangeOf(given));
    ir::LoweredStep lowered;
    TIM_RETURN_IF_ERROR(AddOperands(*sink, given.operands, written,
                                    given.operand_count, &lowered));
    TIM_RETURN_IF_ERROR(AddArguments(given, &launch));
    lowered.action = std::move(launch);
    sink->lowering.steps.push_back(std::move(lowered));
    return OkStatus();
  });
}

TimCode AddInPlaceTo(TimLowering* sink, uint32_t input, uint32_t output) {
  if (sink == nullptr) return TIM_INVALID_ARGUMENT;
  return sink->failure.Keep([&]() -> Status {
    if (input >= sink->node->inputs.size() ||
        output >= sink->node->outputs.size()) {
      return InvalidArgument("output ", output, " in place of input ", input);
    }
    sink->lowering.in_place.push_back(
        {.input = static_cast<int>(input), .output = static_cast<int>(output)});
    return OkStatus();
  });
}

}  // namespace tim::plugin
