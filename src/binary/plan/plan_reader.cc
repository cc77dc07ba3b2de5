#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/aligned_memory.h"
#include "base/page_memory.h"
#include "binary/desc_tables.h"
#include "binary/graph_file.h"
#include "binary/graph_tables.h"
#include "binary/launch_tables.h"
#include "binary/plan/device_tables.h"
#include "binary/plan/plan_file.h"
#include "binary/table_file.h"

namespace tim::binary {
namespace {

static_assert(static_cast<int>(fbs::SlotKind::MAX) ==
              static_cast<int>(ir::SlotKind::kStateWrite));
static_assert(static_cast<int>(fbs::MemoryKind::MAX) ==
              static_cast<int>(ir::MemoryKind::kHost));

using Pieces = std::vector<std::span<const std::byte>>;

Result<ir::Plan> Read(std::span<const std::byte> bytes,
                      const ir::OpRegistry& operators,
                      const std::shared_ptr<const void>& keeper, int depth);

// Reads verified tables.  Lists and pieces exist as they are named; whether
// numbers make sense is for ir::Verify to say.
class PlanReader {
 public:
  PlanReader(const TableFile& file, const ir::OpRegistry& operators,
             ReadBudget& budget, GraphReader graphs, Pieces blocks, int depth)
      : depth_(depth),
        file_(file),
        operators_(operators),
        budget_(budget),
        graphs_(std::move(graphs)),
        blocks_(std::move(blocks)) {}

  Result<ir::Plan> Read(const fbs::Plan& table);

 private:
  // One item by `read` of each table of the list, which may be absent.
  template <typename Item, typename Table, typename ReadOne>
  Status ReadList(const char* what,
                  const flatbuffers::Vector<flatbuffers::Offset<Table>>* list,
                  std::vector<Item>* items, ReadOne read) {
    for (uint32_t i = 0; list != nullptr && i < list->size(); ++i) {
      TIM_RETURN_IF_ERROR(budget_.Take(2 * sizeof(Item)));
      Result<Item> item = read(*list->Get(i));
      if (!item.ok()) return item.status().WithContext(StrCat(what, " ", i));
      items->push_back(*std::move(item));
    }
    return OkStatus();
  }

  Result<std::span<const std::byte>> Block(int index) const {
    if (index >= 0 && static_cast<size_t>(index) < blocks_.size()) {
      return blocks_[static_cast<size_t>(index)];
    }
    return InvalidArgument("it is data ", index, " of ", blocks_.size());
  }

  Result<std::shared_ptr<const std::byte[]>> Content(int index,
                                                     int64_t alignment);
  Result<std::shared_ptr<const ir::Graph>> ReadInnerGraph(const char* what,
                                                          int index);
  Result<ir::ConstantBlock> ReadBlock(const fbs::ConstantBlock& table,
                                      const ir::Plan& plan);
  Result<ir::PlanTensor> ReadTensor(const fbs::PlanTensor& table);
  Result<ir::PlanState> ReadState(const fbs::PlanState& table);
  Result<ir::Decision> ReadDecision(const fbs::Decision& table);
  Result<ir::HostCall> ReadCall(const fbs::HostCall& table);
  Result<ir::DeviceCall> ReadDeviceCall(const fbs::DeviceCall& table);
  Result<ir::GraphCall> ReadGraphCall(const fbs::GraphCall& table);
  Result<ir::ControlCall> ReadControl(const fbs::ControlCall& table);
  Result<ir::Action> ReadAnyLaunch(const fbs::KernelLaunch& table);
  Result<ir::Action> ReadAction(const fbs::Step& table);
  Result<ir::Step> ReadStep(const fbs::Step& table);
  template <typename Item, typename Struct>
  Status ReadStructs(const flatbuffers::Vector<const Struct*>* list,
                     std::vector<Item>* items, Item (*item_of)(const Struct&)) {
    if (list == nullptr) return OkStatus();
    TIM_RETURN_IF_ERROR(CheckAligned(list));
    TIM_RETURN_IF_ERROR(budget_.Take(int64_t{sizeof(Item)} * list->size()));
    for (const Struct* one : *list) items->push_back(item_of(*one));
    return OkStatus();
  }

  const int depth_;  // plans that this one is in
  const TableFile& file_;
  const ir::OpRegistry& operators_;  // of bodies
  ReadBudget& budget_;
  GraphReader graphs_;
  const Pieces blocks_;
  std::map<int, std::shared_ptr<const std::byte[]>> copies_;  // by block
  std::set<int> bodies_;  // blocks that are graphs or plans
};

// Where the file is kept and the piece is aligned, it is used in place; else
// all that name it share a copy.
Result<std::shared_ptr<const std::byte[]>> PlanReader::Content(
    int index, int64_t alignment) {
  TIM_ASSIGN_OR_RETURN(const auto data, Block(index));
  if (file_.keeper() != nullptr && IsAligned(data.data(), alignment)) {
    return std::shared_ptr<const std::byte[]>(file_.keeper(), data.data());
  }
  auto& copy = copies_[index];
  if (copy != nullptr) return copy;
  auto memory = AllocatePages(static_cast<int64_t>(data.size()));
  if (memory == nullptr) {
    return OutOfMemory("no host memory for ", data.size(), " bytes");
  }
  if (!data.empty()) std::memcpy(memory.get(), data.data(), data.size());
  copy = std::move(memory);
  return copy;
}

Result<ir::ConstantBlock> PlanReader::ReadBlock(const fbs::ConstantBlock& table,
                                                const ir::Plan& plan) {
  ir::ConstantBlock block{
      .device = table.device(), .data = nullptr, .constants = {}};
  TIM_ASSIGN_OR_RETURN(const auto data, Block(table.data()));
  block.bytes = static_cast<int64_t>(data.size());
  int64_t alignment = ir::kSharedAlignment;
  if (block.device > 0 &&
      static_cast<size_t>(block.device) < plan.devices.size()) {
    alignment = BlockAlignment(plan.devices[block.device]);
  }
  TIM_ASSIGN_OR_RETURN(block.data, Content(table.data(), alignment));
  TIM_RETURN_IF_ERROR(ReadList(
      "constant", table.constants(), &block.constants,
      [&](const fbs::PlacedConstant& placed) -> Result<ir::PlacedConstant> {
        TIM_ASSIGN_OR_RETURN(std::string id, budget_.Copy(placed.id()));
        return ir::PlacedConstant{std::move(id), placed.offset(),
                                  placed.bytes()};
      }));
  return block;
}

Result<ir::PlanTensor> PlanReader::ReadTensor(const fbs::PlanTensor& table) {
  ir::PlanTensor tensor;
  TIM_ASSIGN_OR_RETURN(tensor.name, budget_.Copy(table.name()));
  TIM_ASSIGN_OR_RETURN(tensor.desc, ReadDesc(table.desc(), budget_));
  tensor.device = table.device();
  if (depth_ > 0 || tensor.device == 0) return tensor;
  return InvalidArgument("it is on device ", tensor.device);
}

Result<ir::PlanState> PlanReader::ReadState(const fbs::PlanState& table) {
  ir::PlanState state;
  TIM_ASSIGN_OR_RETURN(state.name, budget_.Copy(table.name()));
  TIM_ASSIGN_OR_RETURN(state.desc, ReadDesc(table.desc(), budget_));
  state.device = table.device();
  state.written = table.written();
  state.in_place = table.in_place();
  return state;
}

Result<ir::Decision> PlanReader::ReadDecision(const fbs::Decision& table) {
  ir::Decision decision;
  TIM_ASSIGN_OR_RETURN(decision.node, budget_.Copy(table.node()));
  TIM_ASSIGN_OR_RETURN(decision.chosen, budget_.Copy(table.chosen()));
  TIM_ASSIGN_OR_RETURN(decision.refused, ReadTexts(table.refused(), budget_));
  return decision;
}

// Each call has one of its own: what is read is no more than the file has.
Result<std::shared_ptr<const ir::Graph>> PlanReader::ReadInnerGraph(
    const char* what, int index) {
  TIM_ASSIGN_OR_RETURN(const auto body, Block(index));
  if (!bodies_.insert(index).second) {
    return InvalidArgument("its ", what, ", data ", index,
                           ", is another call's");
  }
  TIM_ASSIGN_OR_RETURN(ir::Graph graph,
                       ReadGraph(body, operators_, {.keeper = file_.keeper()}));
  return std::make_shared<const ir::Graph>(std::move(graph));
}

Result<ir::HostCall> PlanReader::ReadCall(const fbs::HostCall& table) {
  ir::HostCall call;
  TIM_ASSIGN_OR_RETURN(call.op, budget_.Copy(table.op()));
  TIM_ASSIGN_OR_RETURN(call.name, budget_.Copy(table.name()));
  TIM_ASSIGN_OR_RETURN(call.attributes, graphs_.Read(table.attributes()));
  if (table.body() != -1) {
    TIM_ASSIGN_OR_RETURN(call.body, ReadInnerGraph("body", table.body()));
  }
  const auto operand = [&](const fbs::CallOperand& one)
      -> Result<std::optional<ir::CallOperand>> {
    if (one.desc() == nullptr) return std::optional<ir::CallOperand>();
    TIM_ASSIGN_OR_RETURN(ir::TensorDesc desc, ReadDesc(one.desc(), budget_));
    return std::optional(
        ir::CallOperand{std::move(desc), one.constant(), one.scalar()});
  };
  TIM_RETURN_IF_ERROR(ReadList("input", table.inputs(), &call.inputs, operand));
  TIM_RETURN_IF_ERROR(
      ReadList("output", table.outputs(), &call.outputs, operand));
  return call;
}

ir::Gemm ReadGemm(const fbs::Gemm& table) {
  return {.transpose_a = table.transpose_a(),
          .transpose_b = table.transpose_b(),
          .m = table.m(),
          .n = table.n(),
          .k = table.k(),
          .lda = table.lda(),
          .ldb = table.ldb(),
          .ldc = table.ldc(),
          .batches = table.batches(),
          .a_step = table.a_step(),
          .b_step = table.b_step(),
          .c_step = table.c_step()};
}

Result<ir::DeviceCall> PlanReader::ReadDeviceCall(
    const fbs::DeviceCall& table) {
  ir::DeviceCall call;
  TIM_ASSIGN_OR_RETURN(call.name, budget_.Copy(table.name()));
  TIM_ASSIGN_OR_RETURN(const auto payload, budget_.Copy(table.payload()));
  call.payload.assign(payload.begin(), payload.end());
  return call;
}

Result<ir::GraphCall> PlanReader::ReadGraphCall(const fbs::GraphCall& table) {
  ir::GraphCall call;
  TIM_ASSIGN_OR_RETURN(call.part, ReadInnerGraph("part", table.part()));
  TIM_ASSIGN_OR_RETURN(call.name, budget_.Copy(table.name()));
  using Option = std::pair<std::string, std::string>;
  TIM_RETURN_IF_ERROR(ReadList(
      "option", table.options(), &call.options,
      [&](const fbs::Option& option) -> Result<Option> {
        TIM_ASSIGN_OR_RETURN(std::string key, budget_.Copy(option.key()));
        TIM_ASSIGN_OR_RETURN(std::string value, budget_.Copy(option.value()));
        return Option(std::move(key), std::move(value));
      }));
  return call;
}

Result<ir::ControlCall> PlanReader::ReadControl(const fbs::ControlCall& table) {
  if (depth_ + 1 >= kMaxPlanDepth) {
    return InvalidArgument("plans are nested deeper than ", kMaxPlanDepth);
  }
  if (table.kind() > static_cast<uint8_t>(ir::ControlKind::kWhile)) {
    return InvalidArgument("it is of kind ", table.kind());
  }
  ir::ControlCall call{.kind = static_cast<ir::ControlKind>(table.kind()),
                       .plans = {},
                       .max_trips = table.max_trips(),
                       .scans = table.scans()};
  TIM_ASSIGN_OR_RETURN(const auto plans, budget_.Copy(table.plans()));
  for (const int index : plans) {
    TIM_ASSIGN_OR_RETURN(const auto bytes, Block(index));
    if (!bodies_.insert(index).second) {
      return InvalidArgument("its plan, data ", index, ", is another call's");
    }
    auto plan = binary::Read(bytes, operators_, file_.keeper(), depth_ + 1);
    if (!plan.ok()) return plan.status().WithContext("an inner plan");
    call.plans.push_back(std::make_shared<const ir::Plan>(*std::move(plan)));
  }
  return call;
}

Result<ir::Action> PlanReader::ReadAnyLaunch(const fbs::KernelLaunch& table) {
  if (table.user_kernel()) {
    TIM_ASSIGN_OR_RETURN(auto launch, ReadUserLaunch(table, budget_));
    return ir::Action(std::move(launch));
  }
  TIM_ASSIGN_OR_RETURN(auto launch, ReadLaunch(table, budget_));
  return ir::Action(std::move(launch));
}

Result<ir::Action> PlanReader::ReadAction(const fbs::Step& table) {
  const int actions = (table.launch() != nullptr) + (table.call() != nullptr) +
                      (table.copy() != nullptr) + (table.gemm() != nullptr) +
                      (table.device_call() != nullptr) +
                      (table.graph_call() != nullptr) +
                      (table.control_call() != nullptr);
  if (actions != 1) return InvalidArgument("it has ", actions, " actions");
  if (table.launch() != nullptr) return ReadAnyLaunch(*table.launch());
  if (table.call() != nullptr) {
    TIM_ASSIGN_OR_RETURN(auto call, ReadCall(*table.call()));
    return ir::Action(std::move(call));
  }
  if (table.device_call() != nullptr) {
    TIM_ASSIGN_OR_RETURN(auto call, ReadDeviceCall(*table.device_call()));
    return ir::Action(std::move(call));
  }
  if (table.graph_call() != nullptr) {
    TIM_ASSIGN_OR_RETURN(auto call, ReadGraphCall(*table.graph_call()));
    return ir::Action(std::move(call));
  }
  if (table.control_call() != nullptr) {
    TIM_ASSIGN_OR_RETURN(auto call, ReadControl(*table.control_call()));
    return ir::Action(std::move(call));
  }
  if (table.gemm() != nullptr) return ir::Action(ReadGemm(*table.gemm()));
  return ir::Action(ir::Copy{table.copy()->bytes()});
}

Result<ir::Step> PlanReader::ReadStep(const fbs::Step& table) {
  ir::Step step;
  TIM_ASSIGN_OR_RETURN(step.label, budget_.Copy(table.label()));
  step.device = table.device();
  TIM_ASSIGN_OR_RETURN(step.action, ReadAction(table));
  TIM_ASSIGN_OR_RETURN(step.operands, budget_.Copy(table.operands()));
  TIM_ASSIGN_OR_RETURN(const auto written, budget_.Copy(table.written()));
  step.written.assign(written.begin(), written.end());
  TIM_ASSIGN_OR_RETURN(step.waits, budget_.Copy(table.waits()));
  TIM_ASSIGN_OR_RETURN(step.kernel, budget_.Copy(table.kernel()));
  step.stream = table.stream();
  return step;
}

ir::Slot SlotOf(const fbs::Slot& slot) {
  return {.kind = static_cast<ir::SlotKind>(slot.kind()),
          .device = slot.device(),
          .index = slot.index(),
          .offset = slot.offset(),
          .bytes = slot.bytes(),
          .allocation = slot.allocation()};
}

ir::Arena ArenaOf(const fbs::Arena& arena) {
  return {arena.device(), static_cast<ir::MemoryKind>(arena.memory()),
          arena.bytes()};
}

ir::Chain ChainOf(const fbs::Chain& chain) {
  return {chain.first(), chain.count()};
}

ir::PlanOptions ReadOptions(const fbs::PlanOptions& table) {
  return {.strict = table.strict(),
          .fold = {.growth = table.fold_growth(),
                   .small_bytes = table.fold_small_bytes(),
                   .operations = table.fold_operations()}};
}

Result<ir::Plan> PlanReader::Read(const fbs::Plan& table) {
  ir::Plan plan;
  TIM_ASSIGN_OR_RETURN(plan.graph, budget_.Copy(table.graph()));
  if (table.options() != nullptr) plan.options = ReadOptions(*table.options());
  TIM_RETURN_IF_ERROR(ReadList("device", table.devices(), &plan.devices,
                               [&](const fbs::DeviceInfo& device) {
                                 return ReadDevice(device, budget_);
                               }));
  TIM_RETURN_IF_ERROR(ReadStructs(table.slots(), &plan.slots, SlotOf));
  TIM_RETURN_IF_ERROR(ReadStructs(table.arenas(), &plan.arenas, ArenaOf));
  TIM_RETURN_IF_ERROR(ReadStructs(table.chains(), &plan.chains, ChainOf));
  TIM_RETURN_IF_ERROR(ReadList(
      "block", table.constants(), &plan.constants,
      [&](const fbs::ConstantBlock& block) { return ReadBlock(block, plan); }));
  const auto tensor = [&](const fbs::PlanTensor& t) { return ReadTensor(t); };
  TIM_RETURN_IF_ERROR(ReadList("input", table.inputs(), &plan.inputs, tensor));
  TIM_RETURN_IF_ERROR(
      ReadList("output", table.outputs(), &plan.outputs, tensor));
  TIM_RETURN_IF_ERROR(
      ReadList("state", table.states(), &plan.states,
               [&](const fbs::PlanState& state) { return ReadState(state); }));
  TIM_RETURN_IF_ERROR(
      ReadList("step", table.steps(), &plan.steps,
               [&](const fbs::Step& step) { return ReadStep(step); }));
  if (const fbs::MemoryReport* memory = table.memory(); memory != nullptr) {
    plan.memory = {memory->no_reuse_sum(), memory->lower_bound(),
                   memory->peak(), memory->eval_scratch()};
  }
  TIM_RETURN_IF_ERROR(ReadList(
      "decision", table.decisions(), &plan.decisions,
      [&](const fbs::Decision& decision) { return ReadDecision(decision); }));
  return plan;
}

Result<ir::Plan> Read(std::span<const std::byte> bytes,
                      const ir::OpRegistry& operators,
                      const std::shared_ptr<const void>& keeper, int depth) {
  TIM_ASSIGN_OR_RETURN(const TableFile file, TableFile::Open(bytes, keeper));
  TIM_ASSIGN_OR_RETURN(const auto* root, file.Verified<fbs::PlanFile>());
  if (root->plan() == nullptr) return InvalidArgument("it has no plan");
  ReadBudget budget(kMaxGrowth * file.table_bytes());
  // Attributes of a plan hold no graphs: no operator is needed.
  const ir::OpRegistry none;
  TIM_ASSIGN_OR_RETURN(GraphReader graphs,
                       GraphReader::Create(file, root->data(), none, budget));
  TIM_ASSIGN_OR_RETURN(Pieces blocks, file.Pieces(root->blocks()));
  TIM_ASSIGN_OR_RETURN(ir::Plan plan,
                       PlanReader(file, operators, budget, std::move(graphs),
                                  std::move(blocks), depth)
                           .Read(*root->plan()));
  // With the plans inside.
  if (depth == 0) TIM_RETURN_IF_ERROR(ir::Verify(plan));
  return plan;
}

}  // namespace

Result<ir::Plan> ReadPlan(std::span<const std::byte> bytes,
                          const ir::OpRegistry& operators,
                          const std::shared_ptr<const void>& keeper) {
  Result<ir::Plan> plan = Read(bytes, operators, keeper, 0);
  if (!plan.ok()) return plan.status().WithContext("binary plan");
  return plan;
}

}  // namespace tim::binary
