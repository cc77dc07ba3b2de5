#include "tests/support/plans/whole_plan.h"

#include <cstring>
#include <numeric>
#include <type_traits>
#include <variant>

#include "base/aligned_memory.h"
#include "ir/constant.h"
#include "ir/graph.h"

namespace tim::testing {
namespace {

using ir::SlotKind;

constexpr int64_t kBytes = 64;  // of each value: 16 floats

ir::TensorDesc Desc(std::vector<int64_t> dims) {
  ir::TensorDesc desc;
  desc.type = ir::DataType::kFloat32;
  desc.shape = ir::Shape(std::move(dims));
  return desc;
}

ir::ConstantBlock Block(int device, int64_t bytes, const std::string& id) {
  AlignedMemory memory = AllocateAligned(bytes, 4096);
  for (int64_t i = 0; i < bytes; ++i) memory[i] = std::byte(i * 7);
  ir::ConstantBlock block{.device = device,
                          .bytes = bytes,
                          .data = std::move(memory),
                          .constants = {}};
  for (int64_t at = 0; at < bytes; at += kBytes) {
    block.constants.push_back({StrCat(id, at), at, kBytes});
  }
  return block;
}

std::vector<ir::DeviceInfo> Devices() {
  std::vector<ir::DeviceInfo> devices(2);
  devices[0].name = "host";
  devices[0].runs_eval = true;
  devices[0].unified_memory = true;
  devices[1].kind = "opencl";
  devices[1].name = "a device";
  devices[1].vendor = "a vendor";
  devices[1].driver = "3.1";
  devices[1].device_class = ir::DeviceClass::kGpu;
  devices[1].max_work_item_sizes = {64, 32, 8};
  devices[1].alignment = 128;
  devices[1].chains = true;
  devices[1].winograd = false;
  devices[1].has_amx = true;
  devices[1].remote = true;
  devices[1].link_gbytes_per_second = 2.5;
  devices[1].link_latency_us = 90;
  return devices;
}

std::vector<ir::Slot> Slots() {
  const auto arena = [](int device, int64_t offset, int allocation) {
    return ir::Slot{.kind = SlotKind::kArena,
                    .device = device,
                    .index = device,
                    .offset = offset,
                    .bytes = kBytes,
                    .allocation = allocation};
  };
  const auto other = [](SlotKind kind, int device, int index,
                        int64_t offset = 0) {
    return ir::Slot{.kind = kind,
                    .device = device,
                    .index = index,
                    .offset = offset,
                    .bytes = kBytes};
  };
  return {other(SlotKind::kInput, 0, 0),
          arena(1, 0, 0),
          other(SlotKind::kConstant, 1, 0, kBytes),
          arena(1, 64, 1),
          other(SlotKind::kStateRead, 1, 0),
          other(SlotKind::kStateWrite, 1, 0),
          arena(1, 128, 2),
          arena(0, 0, 3),
          arena(0, 64, -1),
          other(SlotKind::kOutput, 0, 0),
          other(SlotKind::kConstant, 0, 1)};
}

ir::Step MakeStep(const char* label, int device, ir::Action action,
                  std::vector<int> operands, std::vector<int> waits = {}) {
  ir::Step step{.label = label,
                .device = device,
                .action = std::move(action),
                .operands = std::move(operands),
                .written = {},
                .waits = std::move(waits)};
  step.written.resize(step.operands.size());
  step.written.back() = true;
  return step;
}

ir::KernelLaunch BuiltIn() {
  ir::KernelLaunch launch;
  launch.source = "ops/gemm/gemm.cl";
  launch.headers = {"kernels/exact_math.clh"};
  launch.function = "gemm";
  launch.options = "-DROWS=4";
  launch.arguments = {
      ir::TensorArg{.operand = 0},
      ir::TensorArg{.operand = 1, .element_bytes = 2},
      ir::TensorArg{.operand = 2},
      int32_t{-7},
      uint32_t{7},
      int64_t{1} << 40,
      0.25f,
      ir::StructArg{.type = "sizes",
                    .fields = {{"w", int32_t{-1}}, {"scale", 0.5f}}}};
  launch.names = {"x", "w", "y", "a", "b", "c", "d", "e"};
  launch.range.dimensions = 2;
  launch.range.global = {16, 4, 1};
  launch.range.local = {4, 4, 0};
  launch.spatial_partition = true;
  return launch;
}

ir::UserTensorArg UserTensor(int operand, const char* name) {
  ir::UserTensorArg arg;
  arg.operand = operand;
  arg.type = ir::DataType::kFloat32;
  arg.dims = {4, 4};
  arg.name = name;
  return arg;
}

ir::UserLaunch OfUser() {
  ir::UserLaunch launch;
  launch.text = "__kernel void keep(__global float* out) {}\n";
  launch.name = "user.Keep#3";
  launch.function = "keep";
  launch.defines = {"F(x) (x + 1)"};
  launch.part = 1;
  launch.range.global = {16, 1, 1};
  ir::UserTensorArg out = UserTensor(2, "output 0");
  out.written = out.kept = out.readable = out.open = true;
  ir::UserTensorArg absent;
  absent.operand = ir::kAbsentOperand;
  absent.name = "input 2";
  launch.arguments = {
      UserTensor(0, "input 0"),
      UserTensor(1, "input 1"),
      absent,
      out,
      ir::LocalArg{.bytes = 128, .name = "local 0"},
      ir::UserScalarArg{.value = 1.5, .type = "float", .name = "scalar 0"},
      ir::UserScalarArg{.value = uint64_t{1} << 63,
                        .type = "uint64_t",
                        .name = "scalar 1",
                        .more = {int64_t{-1}, 2.5}}};
  return launch;
}

ir::HostCall Call() {
  const float data[] = {1, 2, 3};
  ir::HostCall call;
  call.op = "test.Any@1";
  call.name = "Any#4";
  call.attributes = {{"bool", true},
                     {"int", int64_t{-3}},
                     {"float", 0.1},
                     {"string", std::string("text")},
                     {"ints", std::vector<int64_t>{1, -2}},
                     {"floats", std::vector<double>{0.5, 1e300}},
                     {"strings", std::vector<std::string>{"a", ""}},
                     {"tensor", ir::MakeConstant(data, sizeof(data))}};
  ir::CallOperand codes{.desc = Desc({4, 4})};
  codes.desc.type = ir::DataType::kInt8;
  codes.desc.layout = ir::Layout::Blocked(1, 8);
  codes.desc.quantization = {.kind = ir::QuantizationKind::kPerChannel,
                             .axis = 1,
                             .scales = {1, 2, 3, 0.5f},
                             .zero_points = {0}};
  call.inputs = {ir::CallOperand{.desc = Desc({16})}, std::nullopt, codes};
  call.inputs[0]->scalar = true;
  call.inputs[2]->constant = true;
  call.outputs = {ir::CallOperand{.desc = Desc({2, 8})}};
  return call;
}

ir::Gemm Product() {
  return {.transpose_b = true,
          .m = 2,
          .n = 2,
          .k = 2,
          .lda = 4,
          .ldb = 2,
          .ldc = 3,
          .batches = 2,
          .a_step = 8,
          .c_step = 8};
}

ir::DeviceCall OfDevice() {
  return {.name = "acme.scale", .payload = std::string("\0a\xff", 3)};
}

// The graph of a part that gives its input.
ir::GraphCall PartOfDevice() {
  ir::Graph part("part");
  const ir::ValueId x = part.AddValue(Desc({16}), ir::Role::kInput, "x");
  part.AddInput(x);
  part.AddOutput(x);
  return {.part = std::make_shared<const ir::Graph>(std::move(part)),
          .name = "part.acme.0",
          .options = {{"level", "2"}, {"empty", ""}}};
}

// A plan whose outputs have the first bytes of its input: those of `state`, as
// many as the input where it is set, and a condition for the host.
std::shared_ptr<const ir::Plan> InnerPlan(const std::string& name, bool state) {
  ir::TensorDesc condition = Desc({1});
  condition.type = ir::DataType::kBool8;
  ir::Plan plan;
  plan.graph = name;
  plan.devices = Devices();
  plan.inputs = {{"x", Desc({16}), 1}};
  plan.slots = {{.kind = SlotKind::kInput, .device = 1, .bytes = kBytes}};
  if (state) {
    plan.outputs.push_back({"y", Desc({16}), 1});
    plan.slots.push_back(
        {.kind = SlotKind::kOutput, .device = 1, .bytes = kBytes});
    plan.steps.push_back(MakeStep("y", 1, ir::Copy{kBytes}, {0, 1}));
  }
  const int index = static_cast<int>(plan.outputs.size());
  plan.outputs.push_back({"go", condition});
  plan.slots.push_back({.kind = SlotKind::kOutput, .index = index, .bytes = 1});
  const int slot = static_cast<int>(plan.slots.size()) - 1;
  plan.steps.push_back(MakeStep("go", 1, ir::Copy{1}, {0, slot}));
  return std::make_shared<const ir::Plan>(std::move(plan));
}

ir::ControlCall Loop() {
  return {.kind = ir::ControlKind::kWhile,
          .plans = {InnerPlan("condition", false), InnerPlan("body", true)},
          .max_trips = 3};
}

class NumberList {
 public:
  template <typename T>
  void Add(const std::string& name, T* number) {
    numbers.push_back({name, [number](int64_t value) {
                         if constexpr (std::is_same_v<T, bool>) {
                           *number = (value & 1) != 0;
                         } else {
                           *number = static_cast<T>(value);
                         }
                       }});
  }
  template <typename T>
  void AddAll(const std::string& name, std::vector<T>* list) {
    for (T& number : *list) Add(name, &number);
  }

  void AddDesc(const std::string& name, ir::TensorDesc* desc) {
    Add(name + " type", &desc->type);
    for (int axis = 0; axis < desc->shape.rank(); ++axis) {
      numbers.push_back({name + " extent", [desc, axis](int64_t value) {
                           desc->shape.set_dim(axis, value);
                         }});
    }
    Add(name + " layout", &desc->layout.kind);
    Add(name + " layout axis", &desc->layout.axis);
    Add(name + " block", &desc->layout.block);
    Add(name + " quantization", &desc->quantization.kind);
    Add(name + " quantization axis", &desc->quantization.axis);
    AddAll(name + " scale", &desc->quantization.scales);
    AddAll(name + " zero point", &desc->quantization.zero_points);
  }

  void operator()(ir::KernelLaunch& launch) {
    Add("dimensions", &launch.range.dimensions);
    for (ir::KernelArg& argument : launch.arguments) {
      if (auto* tensor = std::get_if<ir::TensorArg>(&argument)) {
        Add("argument", &tensor->operand);
        Add("element_bytes", &tensor->element_bytes);
      }
    }
  }
  void operator()(ir::UserLaunch& launch) {
    Add("dimensions", &launch.range.dimensions);
    Add("part", &launch.part);
    for (ir::UserArg& argument : launch.arguments) {
      if (auto* user = std::get_if<ir::UserTensorArg>(&argument)) {
        Add("user argument", &user->operand);
        Add("user type", &user->type);
        Add("user written", &user->written);
        AddAll("user extent", &user->dims);
      } else if (auto* local = std::get_if<ir::LocalArg>(&argument)) {
        Add("local bytes", &local->bytes);
      }
    }
  }
  void operator()(ir::HostCall& call) {
    for (auto* operands : {&call.inputs, &call.outputs}) {
      for (auto& operand : *operands) {
        if (operand) AddDesc("operand", &operand->desc);
      }
    }
  }
  void operator()(ir::DeviceCall&) {}
  void operator()(ir::GraphCall&) {}
  void operator()(ir::ControlCall& call) {
    Add("kind", &call.kind);
    Add("max_trips", &call.max_trips);
    Add("scans", &call.scans);
  }
  void operator()(ir::Copy& copy) { Add("copy", &copy.bytes); }
  void operator()(ir::Gemm& gemm) {
    for (int64_t* number :
         {&gemm.m, &gemm.n, &gemm.k, &gemm.lda, &gemm.ldb, &gemm.ldc,
          &gemm.batches, &gemm.a_step, &gemm.b_step, &gemm.c_step}) {
      Add("gemm", number);
    }
  }

  std::vector<PlanNumber> numbers;
};

void AddMemory(ir::Plan& plan, NumberList* list) {
  for (ir::DeviceInfo& info : plan.devices) {
    list->Add("alignment", &info.alignment);
    list->Add("class", &info.device_class);
    list->Add("runs_eval", &info.runs_eval);
    list->Add("unified_memory", &info.unified_memory);
  }
  for (ir::Arena& arena : plan.arenas) {
    list->Add("arena device", &arena.device);
    list->Add("arena memory", &arena.memory);
    list->Add("arena bytes", &arena.bytes);
  }
  for (ir::ConstantBlock& block : plan.constants) {
    list->Add("block device", &block.device);
    for (ir::PlacedConstant& constant : block.constants) {
      list->Add("constant offset", &constant.offset);
      list->Add("constant bytes", &constant.bytes);
    }
  }
  for (ir::PlanTensor& input : plan.inputs) {
    list->AddDesc("input", &input.desc);
  }
  for (ir::PlanTensor& output : plan.outputs) {
    list->AddDesc("output", &output.desc);
  }
  for (ir::PlanState& state : plan.states) {
    list->AddDesc("state", &state.desc);
    list->Add("state device", &state.device);
    list->Add("state written", &state.written);
    list->Add("state in_place", &state.in_place);
  }
}

}  // namespace

ir::Plan WholePlan() {
  ir::Plan plan;
  plan.graph = "whole";
  plan.options = {.strict = true, .fold = {.growth = 5, .operations = 7}};
  plan.devices = Devices();
  plan.arenas = {{0, ir::MemoryKind::kHost, 128},
                 {1, ir::MemoryKind::kDevice, 192}};
  plan.constants.push_back(Block(1, 256, "w"));
  plan.constants.push_back(Block(0, 64, "t"));
  plan.inputs = {{"x", Desc({16})}};
  plan.outputs = {{"y", Desc({2, 8})}};
  plan.states = {
      {.name = "s", .desc = Desc({4, 4}), .device = 1, .written = true}};
  plan.slots = Slots();
  plan.steps = {MakeStep("upload", 1, ir::Copy{kBytes}, {0, 1}),
                MakeStep("Conv#1", 1, BuiltIn(), {1, 2, 3}),
                MakeStep("Matmul#2", 1, Product(), {3, 2, 6}),
                MakeStep("Keep#3", 1, OfUser(), {6, 4, 5}),
                MakeStep("download", 1, ir::Copy{kBytes}, {6, 7}),
                MakeStep("Any#4", 0, Call(), {7, 10, 8}, {kDownload}),
                MakeStep("result", 0, ir::Copy{kBytes}, {8, 9}),
                MakeStep("Scale#5", 1, OfDevice(), {6, 2, 3}, {kDownload}),
                MakeStep("part", 1, PartOfDevice(), {3, 6}),
                MakeStep("While#6", 1, Loop(), {6, 1})};
  plan.chains = {{.first = kKernel, .count = 2}};
  plan.memory = {
      .no_reuse_sum = 400, .lower_bound = 300, .peak = 320, .eval_scratch = 8};
  plan.decisions = {{"Conv#1", "opencl:conv, 3 us", {"slow: it is"}}};
  return plan;
}

std::vector<PlanNumber> NumbersOf(ir::Plan& plan) {
  NumberList list;
  AddMemory(plan, &list);
  for (ir::Slot& slot : plan.slots) {
    list.Add("slot kind", &slot.kind);
    list.Add("slot device", &slot.device);
    list.Add("slot index", &slot.index);
    list.Add("slot offset", &slot.offset);
    list.Add("slot bytes", &slot.bytes);
    list.Add("slot allocation", &slot.allocation);
  }
  for (ir::Step& step : plan.steps) {
    list.Add("step device", &step.device);
    list.AddAll("operand", &step.operands);
    list.AddAll("wait", &step.waits);
    std::visit([&](auto& action) { list(action); }, step.action);
  }
  for (ir::Chain& chain : plan.chains) {
    list.Add("chain first", &chain.first);
    list.Add("chain count", &chain.count);
  }
  return list.numbers;
}

}  // namespace tim::testing
