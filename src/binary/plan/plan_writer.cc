#include <utility>
#include <variant>

#include "binary/desc_tables.h"
#include "binary/graph_file.h"
#include "binary/graph_tables.h"
#include "binary/launch_tables.h"
#include "binary/plan/device_tables.h"
#include "binary/plan/plan_file.h"

namespace tim::binary {
namespace {

using flatbuffers::Offset;
using flatbuffers::Vector;

// A piece of the file's data that is no attribute's.
struct Block {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> keeper;
  int64_t alignment = ir::kSharedAlignment;
};

fbs::Slot SlotOf(const ir::Slot& slot) {
  return {static_cast<fbs::SlotKind>(slot.kind),
          slot.device,
          slot.index,
          slot.allocation,
          slot.offset,
          slot.bytes};
}

fbs::Arena ArenaOf(const ir::Arena& arena) {
  return {arena.device, static_cast<fbs::MemoryKind>(arena.memory),
          arena.bytes};
}

fbs::Chain ChainOf(const ir::Chain& chain) {
  return {chain.first, chain.count};
}

fbs::MemoryReport ReportOf(const ir::MemoryReport& memory) {
  return {memory.no_reuse_sum, memory.lower_bound, memory.peak,
          memory.eval_scratch};
}

class PlanWriter {
 public:
  /// \param depth plans that this one is in.
  explicit PlanWriter(const ir::Plan& plan, int depth = 0)
      : plan_(plan), depth_(depth) {}

  Result<Encoding> Run() {
    if (depth_ >= kMaxPlanDepth) {
      return Unimplemented("plan '", plan_.graph, "' is nested deeper than ",
                           kMaxPlanDepth,
                           " plans, which binary graphs are not");
    }
    TIM_ASSIGN_OR_RETURN(const auto plan, WriteAll());
    const size_t attributes = data_.pieces().size();
    for (Block& block : blocks_) {
      data_.Add(block.bytes, std::move(block.keeper), block.alignment);
    }
    const auto data = WriteExtents(0, attributes);
    const auto blocks = WriteExtents(attributes, data_.pieces().size());
    builder_.Finish(fbs::CreatePlanFile(builder_, plan, data, blocks));
    return Encoding({builder_.GetBufferPointer(), builder_.GetSize()},
                    std::move(data_));
  }

 private:
  Result<Offset<fbs::Plan>> WriteAll();

  Offset<Vector<const fbs::Extent*>> WriteExtents(size_t first, size_t end) {
    std::vector<fbs::Extent> extents;
    for (size_t i = first; i < end; ++i) {
      const DataPieces::Piece& piece = data_.pieces()[i];
      extents.emplace_back(static_cast<uint64_t>(piece.offset),
                           piece.bytes.size());
    }
    return builder_.CreateVectorOfStructs(extents);
  }

  int AddBlock(Block block) {
    blocks_.push_back(std::move(block));
    return static_cast<int>(blocks_.size()) - 1;
  }

  Result<int> AddGraph(const ir::Graph& graph) {
    TIM_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, WriteGraph(graph));
    const auto file =
        std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    return AddBlock({.bytes = *file, .keeper = file});
  }

  // A list of the tables that `write` makes of `items`.
  template <typename Table, typename Item, typename Write>
  Offset<Vector<Offset<Table>>> WriteList(const std::vector<Item>& items,
                                          Write write) {
    std::vector<Offset<Table>> tables;
    for (const Item& item : items) tables.push_back(write(item));
    return builder_.CreateVector(tables);
  }

  template <typename Struct, typename Item>
  Offset<Vector<const Struct*>> WriteStructs(const std::vector<Item>& items,
                                             Struct (*struct_of)(const Item&)) {
    std::vector<Struct> structs;
    for (const Item& item : items) structs.push_back(struct_of(item));
    return builder_.CreateVectorOfStructs(structs);
  }

  Offset<fbs::PlanOptions> WriteOptions() {
    const ir::FoldLimits& fold = plan_.options.fold;
    return fbs::CreatePlanOptions(builder_, plan_.options.strict, fold.growth,
                                  fold.small_bytes, fold.operations);
  }

  Offset<fbs::ConstantBlock> WriteBlock(const ir::ConstantBlock& block) {
    const int data =
        AddBlock({.bytes = {block.data.get(), static_cast<size_t>(block.bytes)},
                  .keeper = block.data,
                  .alignment = BlockAlignment(plan_.devices[block.device])});
    const auto constants = WriteList<fbs::PlacedConstant>(
        block.constants, [&](const ir::PlacedConstant& constant) {
          const auto id = builder_.CreateString(constant.id);
          return fbs::CreatePlacedConstant(builder_, id, constant.offset,
                                           constant.bytes);
        });
    return fbs::CreateConstantBlock(builder_, block.device, data, constants);
  }

  Offset<fbs::PlanTensor> WriteTensor(const ir::PlanTensor& tensor) {
    const auto name = builder_.CreateString(tensor.name);
    const auto desc = WriteDesc(builder_, tensor.desc);
    return fbs::CreatePlanTensor(builder_, name, desc, tensor.device);
  }

  Offset<fbs::PlanState> WriteState(const ir::PlanState& state) {
    const auto name = builder_.CreateString(state.name);
    const auto desc = WriteDesc(builder_, state.desc);
    return fbs::CreatePlanState(builder_, name, desc, state.device,
                                state.written, state.in_place);
  }

  Offset<fbs::Decision> WriteDecision(const ir::Decision& decision) {
    const auto node = builder_.CreateString(decision.node);
    const auto chosen = builder_.CreateString(decision.chosen);
    const auto refused = WriteTexts(builder_, decision.refused);
    return fbs::CreateDecision(builder_, node, chosen, refused);
  }

  Offset<Vector<Offset<fbs::CallOperand>>> WriteOperands(
      const std::vector<std::optional<ir::CallOperand>>& operands) {
    return WriteList<fbs::CallOperand>(
        operands, [&](const std::optional<ir::CallOperand>& operand) {
          if (!operand) return fbs::CreateCallOperand(builder_);
          const auto desc = WriteDesc(builder_, operand->desc);
          return fbs::CreateCallOperand(builder_, desc, operand->constant,
                                        operand->scalar);
        });
  }

  Result<Offset<fbs::HostCall>> WriteCall(const ir::HostCall& call) {
    TIM_ASSIGN_OR_RETURN(const auto attributes, graphs_.Write(call.attributes));
    int body = -1;
    if (call.body != nullptr) {
      TIM_ASSIGN_OR_RETURN(body, AddGraph(*call.body));
    }
    const auto op = builder_.CreateSharedString(call.op);
    const auto name = builder_.CreateString(call.name);
    const auto inputs = WriteOperands(call.inputs);
    const auto outputs = WriteOperands(call.outputs);
    return fbs::CreateHostCall(builder_, op, name, attributes, body, inputs,
                               outputs);
  }

  Offset<fbs::Gemm> WriteGemm(const ir::Gemm& gemm) {
    return fbs::CreateGemm(builder_, gemm.transpose_a, gemm.transpose_b, gemm.m,
                           gemm.n, gemm.k, gemm.lda, gemm.ldb, gemm.ldc,
                           gemm.batches, gemm.a_step, gemm.b_step, gemm.c_step);
  }

  Offset<fbs::DeviceCall> WriteDeviceCall(const ir::DeviceCall& call) {
    const auto name = builder_.CreateString(call.name);
    const auto payload = builder_.CreateVector(
        reinterpret_cast<const uint8_t*>(call.payload.data()),
        call.payload.size());
    return fbs::CreateDeviceCall(builder_, name, payload);
  }

  Result<Offset<fbs::GraphCall>> WriteGraphCall(const ir::GraphCall& call) {
    TIM_ASSIGN_OR_RETURN(const int part, AddGraph(*call.part));
    const auto name = builder_.CreateString(call.name);
    const auto options = WriteList<fbs::Option>(
        call.options, [&](const std::pair<std::string, std::string>& option) {
          const auto key = builder_.CreateString(option.first);
          const auto value = builder_.CreateString(option.second);
          return fbs::CreateOption(builder_, key, value);
        });
    return fbs::CreateGraphCall(builder_, part, name, options);
  }

  Result<Offset<fbs::ControlCall>> WriteControl(const ir::ControlCall& call) {
    std::vector<int> plans;
    for (const auto& inner : call.plans) {
      TIM_ASSIGN_OR_RETURN(const Encoding encoding,
                           PlanWriter(*inner, depth_ + 1).Run());
      const auto file =
          std::make_shared<const std::vector<std::byte>>(encoding.ToBytes());
      plans.push_back(AddBlock(
          {.bytes = *file, .keeper = file, .alignment = encoding.alignment()}));
    }
    const auto list = builder_.CreateVector(plans);
    return fbs::CreateControlCall(builder_, static_cast<uint8_t>(call.kind),
                                  list, call.max_trips, call.scans);
  }

  Result<Offset<fbs::Step>> WriteStep(const ir::Step& step) {
    Offset<fbs::ControlCall> control;
    Offset<fbs::DeviceCall> device_call;
    Offset<fbs::GraphCall> graph_call;
    Offset<fbs::KernelLaunch> launch;
    Offset<fbs::HostCall> call;
    Offset<fbs::Gemm> gemm;
    if (const auto* l = std::get_if<ir::KernelLaunch>(&step.action)) {
      launch = WriteLaunch(builder_, *l);
    } else if (const auto* u = std::get_if<ir::UserLaunch>(&step.action)) {
      launch = WriteLaunch(builder_, *u);
    } else if (const auto* c = std::get_if<ir::HostCall>(&step.action)) {
      TIM_ASSIGN_OR_RETURN(call, WriteCall(*c));
    } else if (const auto* g = std::get_if<ir::Gemm>(&step.action)) {
      gemm = WriteGemm(*g);
    } else if (const auto* d = std::get_if<ir::DeviceCall>(&step.action)) {
      device_call = WriteDeviceCall(*d);
    } else if (const auto* p = std::get_if<ir::GraphCall>(&step.action)) {
      TIM_ASSIGN_OR_RETURN(graph_call, WriteGraphCall(*p));
    } else if (const auto* o = std::get_if<ir::ControlCall>(&step.action)) {
      TIM_ASSIGN_OR_RETURN(control, WriteControl(*o));
    }
    const auto* plain = std::get_if<ir::Copy>(&step.action);
    const fbs::Copy copy(plain != nullptr ? plain->bytes : 0);
    const auto label = builder_.CreateString(step.label);
    const auto operands = builder_.CreateVector(step.operands);
    const auto written = builder_.CreateVector(step.written);
    const auto waits = builder_.CreateVector(step.waits);
    const auto kernel = builder_.CreateString(step.kernel);
    return fbs::CreateStep(builder_, label, step.device, operands, written,
                           waits, launch, call,
                           plain != nullptr ? &copy : nullptr, gemm, kernel,
                           device_call, graph_call, control, step.stream);
  }

  const ir::Plan& plan_;
  const int depth_;
  flatbuffers::FlatBufferBuilder builder_;
  DataPieces data_;
  GraphWriter graphs_{builder_, data_};
  std::vector<Block> blocks_;
};

Result<Offset<fbs::Plan>> PlanWriter::WriteAll() {
  std::vector<Offset<fbs::Step>> steps;
  for (const ir::Step& step : plan_.steps) {
    TIM_ASSIGN_OR_RETURN(steps.emplace_back(), WriteStep(step));
  }
  const auto step_list = builder_.CreateVector(steps);
  const auto graph = builder_.CreateString(plan_.graph);
  const auto options = WriteOptions();
  const auto devices = WriteList<fbs::DeviceInfo>(
      plan_.devices,
      [&](const auto& info) { return WriteDevice(builder_, info); });
  const auto constants = WriteList<fbs::ConstantBlock>(
      plan_.constants, [&](const auto& block) { return WriteBlock(block); });
  const auto tensor = [&](const auto& one) { return WriteTensor(one); };
  const auto inputs = WriteList<fbs::PlanTensor>(plan_.inputs, tensor);
  const auto outputs = WriteList<fbs::PlanTensor>(plan_.outputs, tensor);
  const auto states = WriteList<fbs::PlanState>(
      plan_.states, [&](const auto& state) { return WriteState(state); });
  const auto decisions = WriteList<fbs::Decision>(
      plan_.decisions, [&](const auto& one) { return WriteDecision(one); });
  const auto slots = WriteStructs<fbs::Slot>(plan_.slots, SlotOf);
  const auto arenas = WriteStructs<fbs::Arena>(plan_.arenas, ArenaOf);
  const auto chains = WriteStructs<fbs::Chain>(plan_.chains, ChainOf);
  const fbs::MemoryReport memory = ReportOf(plan_.memory);
  return fbs::CreatePlan(builder_, graph, options, devices, slots, arenas,
                         constants, inputs, outputs, states, step_list, chains,
                         &memory, decisions);
}

}  // namespace

// The format has dense ports of the host only.
static Status CheckPorts(const char* what,
                         const std::vector<ir::PlanTensor>& ports) {
  for (const ir::PlanTensor& port : ports) {
    if (port.device == 0 && port.desc.layout.dense()) continue;
    return Unimplemented(what, " ", port.name, " is ", port.desc.ToString(),
                         " on device ", port.device,
                         "; plans to be stored have dense ones of the host");
  }
  return OkStatus();
}

Result<Encoding> EncodePlan(const ir::Plan& plan) {
  TIM_RETURN_IF_ERROR(CheckPorts("input", plan.inputs));
  TIM_RETURN_IF_ERROR(CheckPorts("output", plan.outputs));
  const Status sound = ir::Verify(plan);
  if (!sound.ok()) return sound.WithContext("a plan to be written");
  return PlanWriter(plan).Run();
}

Result<std::vector<std::byte>> WritePlan(const ir::Plan& plan) {
  TIM_ASSIGN_OR_RETURN(const Encoding encoding, EncodePlan(plan));
  return encoding.ToBytes();
}

}  // namespace tim::binary
