// Takes tensors from the memory of a run before it is used again.
#include "vx/dump/run_dump.h"

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "base/write_file.h"
#include "ir/dump/npy.h"
#include "ir/dump/statistics.h"

namespace tim::vx {
namespace {

using runtime::ObservedStep;

constexpr const char* kColumns =
    "step,operation,tensor,file,type,shape,quantization,elements,min,max,mean,"
    "nan,infinity,saturated,flags\n";

// A field of CSV (RFC 4180).
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string Number(const std::optional<double>& number) {
  return number ? StrCat(*number) : "";
}

// Number of a step, so that files are in the order of steps.
std::string Padded(const std::string& when) {
  const bool number = when.find_first_not_of("0123456789") == std::string::npos;
  if (!number || when.size() >= 4) return when;
  return std::string(4 - when.size(), '0') + when;
}

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

RunDump::RunDump(std::string folder, const ir::Plan& plan,
                 const NameFilter& filter)
    : folder_(std::move(folder)),
      plan_(plan),
      filter_(filter),
      last_writers_(plan.notes.values.size(), -1),
      in_parts_(plan.notes.values.size(), false),
      index_(kColumns) {
  for (size_t s = 0; s < plan.notes.operands.size(); ++s) {
    const ir::Step& step = plan.steps[s];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const ir::PlanNotes::Operand& note = plan.notes.operands[s][i];
      if (note.value < 0 || !step.written[i]) continue;
      const auto bytes = ir::ByteSize(plan.notes.values[note.value].desc);
      last_writers_[note.value] = static_cast<int>(s);
      if (bytes.ok() && plan.slots[step.operands[i]].bytes < *bytes) {
        in_parts_[note.value] = true;
      }
    }
  }
}

void RunDump::AddInputs(std::span<const runtime::PortMemory> memory) {
  AddPorts(plan_.inputs, "input", memory);
}

void RunDump::AddOutputs(std::span<const runtime::PortMemory> memory) {
  AddPorts(plan_.outputs, "output", memory);
}

void RunDump::AddPorts(const std::vector<ir::PlanTensor>& ports,
                       const char* when,
                       std::span<const runtime::PortMemory> memory) {
  for (size_t i = 0; i < ports.size() && i < memory.size(); ++i) {
    if (memory[i].host == nullptr || done_.count(ports[i].name) != 0) continue;
    const auto* bytes = static_cast<const std::byte*>(memory[i].host);
    Add(ports[i].name, ports[i].desc, {.when = when, .operation = ""},
        std::span(bytes, static_cast<size_t>(memory[i].bytes)));
  }
}

int RunDump::ValueOf(const ObservedStep& step, int operand) const {
  if (step.slot(operand).kind == ir::SlotKind::kConstant) return -1;
  const ir::PlanNotes::Value* value = step.value(operand);
  return value == nullptr ? -1
                          : static_cast<int>(value - plan_.notes.values.data());
}

// A tensor that no step writes is complete when one reads it.
Status RunDump::BeforeStep(const ObservedStep& step) {
  const int count = static_cast<int>(step.step().operands.size());
  for (int i = 0; i < count && status_.ok(); ++i) {
    const int value = ValueOf(step, i);
    if (value < 0 || step.step().written[i]) continue;
    // A step that copies a state to an output writes the same tensor.
    const bool state = step.slot(i).kind == ir::SlotKind::kStateRead;
    if (!state && last_writers_[value] >= 0) continue;
    const ir::PlanNotes::Value& tensor = plan_.notes.values[value];
    const auto bytes = ir::ByteSize(tensor.desc);
    if (done_.count(tensor.name) != 0 || !bytes.ok() ||
        step.slot(i).bytes < *bytes) {
      continue;
    }
    const Moment moment{
        .when = state ? "state" : StrCat(std::max(0, step.index() - 1)),
        .operation = ""};
    if (!Wants(tensor.name, moment)) continue;
    TIM_ASSIGN_OR_RETURN(const std::vector<std::byte> content, step.Read(i));
    Add(tensor.name, tensor.desc, moment, content);
  }
  return OkStatus();
}

Status RunDump::AfterStep(const ObservedStep& step) {
  const int count = static_cast<int>(step.step().operands.size());
  for (int i = 0; i < count && status_.ok(); ++i) {
    if (step.step().written[i]) TIM_RETURN_IF_ERROR(AddOperand(step, i));
  }
  // The last of several operands that are parts of a tensor completes it.
  for (auto it = parts_.begin(); it != parts_.end();) {
    const auto& [value, content] = *it;
    if (last_writers_[value] != step.index()) {
      ++it;
      continue;
    }
    const ir::PlanNotes::Value& tensor = plan_.notes.values[value];
    Add(tensor.name, tensor.desc,
        {.when = StrCat(step.index()), .operation = step.step().label},
        content);
    it = parts_.erase(it);
  }
  return OkStatus();
}

Status RunDump::AddOperand(const ObservedStep& step, int operand) {
  const int value = ValueOf(step, operand);
  if (value < 0) return OkStatus();
  const ir::PlanNotes::Value& tensor = plan_.notes.values[value];
  const Moment moment{.when = StrCat(step.index()),
                      .operation = step.step().label};
  if (!Wants(tensor.name, moment)) return OkStatus();
  if (in_parts_[value]) return Collect(step, operand, value);
  if (last_writers_[value] != step.index()) return OkStatus();
  TIM_ASSIGN_OR_RETURN(const std::vector<std::byte> content,
                       step.Read(operand));
  Add(tensor.name, tensor.desc, moment, content);
  return OkStatus();
}

Status RunDump::Collect(const ObservedStep& step, int operand, int value) {
  TIM_ASSIGN_OR_RETURN(const int64_t bytes,
                       ir::ByteSize(plan_.notes.values[value].desc));
  std::vector<std::byte>& whole = parts_[value];
  whole.resize(static_cast<size_t>(bytes));
  return step.ReadInto(operand, whole);
}

bool RunDump::Wants(const std::string& tensor, const Moment& moment) const {
  return filter_.Matches(tensor) ||
         (!moment.operation.empty() && filter_.Matches(moment.operation));
}

void RunDump::Add(const std::string& tensor, const ir::TensorDesc& desc,
                  const Moment& moment, std::span<const std::byte> bytes) {
  if (!status_.ok() || !Wants(tensor, moment)) return;
  done_.insert(tensor);
  const auto array = ir::NumpyArrayOf(desc, bytes);
  if (!array.ok()) {
    return Keep(array.status().WithContext(StrCat("tensor ", tensor)));
  }
  const std::string file = files_.Unique(
      StrCat(Padded(moment.when), "_", ir::FileNameOf(tensor)), ".npy");
  Keep(WriteFile(StrCat(folder_, "/", file),
                 {ir::NpyHeader(*array), AsText(array->data)}));
  const ir::TensorStatistics found = ir::StatisticsOf(desc, *array);
  index_ +=
      StrCat(moment.when, ",", Quoted(moment.operation), ",", Quoted(tensor),
             ",", Quoted(file), ",", ir::ToString(desc.type), ",",
             Quoted(desc.shape.ToString()), ",",
             desc.quantized() ? Quoted(desc.quantization.ToString()) : "", ",",
             found.elements, ",", Number(found.min), ",", Number(found.max),
             ",", Number(found.mean), ",", found.nans, ",", found.infinities,
             ",", found.saturated, ",", ir::FlagsOf(found), "\n");
  if (found.nans == 0 || !first_nan_.empty()) return;
  first_nan_ = StrCat(
      "tensor ", tensor,
      moment.operation.empty() ? ""
                               : StrCat(", which step ", moment.when, " [",
                                        moment.operation, "] makes,"),
      " is the first with NaN: ", found.nans, " of ", found.elements);
}

void RunDump::Keep(const Status& status) {
  if (status_.ok()) status_ = status;
}

Status RunDump::Finish() {
  const std::string path = StrCat(folder_, "/index.csv");
  if (status_.ok()) Keep(WriteFile(path, {index_}));
  if (!first_nan_.empty()) {
    TIM_LOG(kWarning, "graph ", plan_.graph, ": ", first_nan_, "; see ", path);
  }
  return status_;
}

}  // namespace tim::vx
