// Builds a graph of the operator alone, runs it and compares.
#include "vx/check/trial.h"

#include <algorithm>
#include <utility>

#include "compiler/compiler.h"
#include "vx/check/compare.h"
#include "vx/check/guard_message.h"
#include "vx/core/failure.h"
#include "vx/graph/context_impl.h"
#include "vx/graph/graph_impl.h"
#include "vx/graph/inferred_source.h"
#include "vx/lowering/lowering.h"
#include "vx/operation/op_impl.h"
#include "vx/tensor/type_convert.h"

namespace tim::vx::check {
namespace {

// Before the runs, in turn: what stays is a value that no reference gives
// twice.
constexpr std::byte kPoisons[] = {std::byte{0xa5}, std::byte{0x5a}};

Result<size_t> BytesOf(const TensorSpec& spec) {
  TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc, ToIr(spec));
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, ir::ByteSize(desc));
  return static_cast<size_t>(bytes);
}

Outcome FailureOf(FaultKind kind, const std::string& reason) {
  Outcome outcome;
  outcome.fault = kind;
  outcome.reason = reason;
  return outcome;
}

// The last failure, without the number of a graph that nobody else knows.
std::string ReasonOf(const GraphImpl& graph) {
  std::string reason = graph.ErrorMessage();
  const std::string begin = StrCat("graph ", graph.core()->name, ": ");
  if (reason.starts_with(begin)) reason.erase(0, begin.size());
  return reason;
}

bool IsOpen(const CustomKernel& kernel) {
  return std::all_of(kernel.local.begin(), kernel.local.end(),
                     [](size_t size) { return size == 0; });
}

// The first element that holds `one` in one result and `other` in the other;
// -1: all are written.
int64_t FirstUnwritten(const TensorSpec& spec, const Bytes& one,
                       const Bytes& other) {
  const auto size = static_cast<size_t>(spec.GetElementByteSize());
  for (size_t at = 0; at + size <= one.size(); at += size) {
    bool written = false;
    for (size_t i = at; i < at + size; ++i) {
      written |= one[i] != kPoisons[0] || other[i] != kPoisons[1];
    }
    if (!written) return static_cast<int64_t>(at / size);
  }
  return -1;
}

}  // namespace

struct Trials::Built {
  std::shared_ptr<GraphImpl> graph;
  std::shared_ptr<ops::CustomOpBase> operation;
  std::vector<std::shared_ptr<Tensor>> inputs;
  std::vector<std::shared_ptr<Tensor>> outputs;

  CustomMeans& means() const {
    return std::get<CustomMeans>(operation->impl()->kind);
  }
};

bool IsSameFault(const Outcome& a, const Outcome& b) {
  if (!a.fault || !b.fault || *a.fault != *b.fault) return false;
  return *a.fault == FaultKind::kWrongValue || a.operand == b.operand;
}

Result<Trials::Built> Trials::Build(Context& context, const Operands& operands,
                                    Use use) const {
  Built built;
  built.graph =
      std::static_pointer_cast<GraphImpl>(context.CreateGraph(CompileOption()));
  built.graph->core()->quiet = true;
  const Status made = CallUser(
      [&] { built.operation = checked_.create(built.graph.get(), operands); });
  if (!made.ok()) return made.WithContext("create()");
  if (built.operation == nullptr ||
      built.operation->impl()->core != built.graph->core()) {
    return InvalidArgument(
        "create() must give an operation that it makes by CreateOperation() "
        "of the graph");
  }
  for (const TensorSpec& spec : operands.inputs) {
    const bool absent = spec.datatype_ == DataType::UNKNOWN;
    built.inputs.push_back(absent ? built.graph->CreateTensorPlaceHolder()
                                  : built.graph->CreateTensor(spec, nullptr));
  }
  for (size_t i = 0; i < operands.outputs.size(); ++i) {
    TensorSpec spec = operands.outputs[i];
    spec.attr_ = use == Use::kInfer ? TRANSIENT : AttributeOf(outputs()[i]);
    built.outputs.push_back(built.graph->CreateTensor(spec, nullptr));
  }
  built.operation->BindInputs(built.inputs).BindOutputs(built.outputs);
  return built;
}

Result<bool> Trials::HasHostEval() const {
  TIM_ASSIGN_OR_RETURN(const Case first, DrawCase(checked_, options_, 0));
  TIM_ASSIGN_OR_RETURN(const Built built,
                       Build(*host_, first.operands, Use::kInfer));
  bool has = false;
  TIM_RETURN_IF_ERROR(CallUser([&] { has = built.operation->HasHostEval(); }));
  return has;
}

Result<Operands> Trials::InferOutputs(const Operands& operands) const {
  TIM_ASSIGN_OR_RETURN(const Built built, Build(*host_, operands, Use::kInfer));
  GraphCore& core = *built.graph->core();
  TIM_ASSIGN_OR_RETURN(
      const LoweredGraph lowered,
      Lower(core, built.graph->OpVector(), built.graph->InputsTensor()));
  TIM_ASSIGN_OR_RETURN(
      const compiler::InferredGraph inferred,
      compiler::Infer(lowered.graph, *lowered.registry,
                      OptionsFor(core, core.context->devices)));
  Operands whole = operands;
  for (size_t i = 0; i < built.outputs.size(); ++i) {
    const auto entry = std::find_if(
        lowered.tensors.begin(), lowered.tensors.end(),
        [&](const auto& known) { return known.tensor == built.outputs[i]; });
    if (entry == lowered.tensors.end()) {
      return TIM_INTERNAL("output ", i, " is not in the graph");
    }
    const ir::TensorDesc& desc = inferred.graph.value(entry->value).desc;
    if (desc.type == ir::DataType::kUnknown) {
      return InvalidArgument("output ", i,
                             " has no type; SetupTypes() of the "
                             "operator, or outputs[",
                             i, "].type, must say it");
    }
    TensorSpec& spec = whole.outputs[i];
    spec.datatype_ = ToVx(desc.type);
    spec.quantization_ = ToVx(desc.quantization);
    spec.shape_.assign(desc.shape.dims().begin(), desc.shape.dims().end());
    spec.attr_ = AttributeOf(outputs()[i]);
  }
  return whole;
}

Status Trials::Write(const Built& built, const Prepared& prepared) const {
  for (size_t i = 0; i < built.inputs.size(); ++i) {
    if (!prepared.tried.HasInput(i)) continue;
    if (built.inputs[i]->CopyDataToTensor(prepared.values[i].data())) continue;
    return InvalidArgument("input ", i, ": ", LastError());
  }
  return OkStatus();
}

Status Trials::WriteOutputs(const Built& built, const Prepared& prepared,
                            std::byte poison) const {
  for (size_t i = 0; i < built.outputs.size(); ++i) {
    Bytes content = prepared.states[i];
    if (!outputs()[i].variable) {
      TIM_ASSIGN_OR_RETURN(const size_t bytes,
                           BytesOf(prepared.operands.outputs[i]));
      content.assign(bytes, poison);
    }
    if (built.outputs[i]->CopyDataToTensor(content.data())) continue;
    return InvalidArgument("output ", i, ": ", LastError());
  }
  return OkStatus();
}

Result<std::vector<Bytes>> Trials::HostResults(const Prepared& prepared) const {
  TIM_ASSIGN_OR_RETURN(const Built built,
                       Build(*host_, prepared.operands, Use::kRun));
  TIM_RETURN_IF_ERROR(Write(built, prepared));
  TIM_RETURN_IF_ERROR(WriteOutputs(built, prepared, kPoisons[0]));
  if (!built.graph->Run()) {
    return InvalidArgument("HostEval(): ", ReasonOf(*built.graph));
  }
  std::vector<Bytes> results;
  for (size_t i = 0; i < built.outputs.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(const size_t bytes,
                         BytesOf(prepared.operands.outputs[i]));
    if (!built.outputs[i]->CopyDataFromTensor(
            results.emplace_back(bytes).data())) {
      return InvalidArgument("output ", i, ": ", LastError());
    }
  }
  return results;
}

Result<std::vector<Bytes>> Trials::Reference(const Prepared& prepared,
                                             std::byte poison) const {
  std::vector<ops::HostInput> inputs;
  std::vector<ops::HostOutput> outputs;
  std::vector<Bytes> results;
  for (size_t i = 0; i < prepared.values.size(); ++i) {
    const bool has = prepared.tried.HasInput(i);
    inputs.push_back({prepared.operands.inputs[i],
                      has ? prepared.values[i].data() : nullptr});
  }
  for (size_t i = 0; i < prepared.states.size(); ++i) {
    results.push_back(prepared.states[i]);
    if (this->outputs()[i].variable) continue;
    TIM_ASSIGN_OR_RETURN(const size_t bytes,
                         BytesOf(prepared.operands.outputs[i]));
    results.back().assign(bytes, poison);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    outputs.push_back({prepared.operands.outputs[i], results[i].data()});
  }
  TIM_RETURN_IF_ERROR(CallUser([&] { checked_.reference(inputs, outputs); }));
  return results;
}

Status Trials::SetExpected(Prepared* prepared) const {
  if (checked_.reference == nullptr) {
    TIM_ASSIGN_OR_RETURN(prepared->expected, HostResults(*prepared));
    return OkStatus();
  }
  TIM_ASSIGN_OR_RETURN(const auto other, Reference(*prepared, kPoisons[1]));
  TIM_ASSIGN_OR_RETURN(prepared->expected, Reference(*prepared, kPoisons[0]));
  for (size_t i = 0; i < other.size(); ++i) {
    if (outputs()[i].variable) continue;
    const int64_t element = FirstUnwritten(prepared->operands.outputs[i],
                                           prepared->expected[i], other[i]);
    if (element < 0) continue;
    prepared->problem.operand = StrCat("output ", i);
    prepared->problem.element = element;
    return InvalidArgument("it leaves element ", element, " of output ", i,
                           " unwritten");
  }
  return OkStatus();
}

Prepared Trials::Prepare(const Case& tried) const {
  Prepared prepared;
  prepared.tried = tried;
  prepared.operands = tried.operands;
  auto values = ValuesOf(checked_, tried);
  auto whole = values.ok() ? InferOutputs(tried.operands)
                           : Result<Operands>(values.status());
  if (!whole.ok()) {
    prepared.problem = FailureOf(FaultKind::kFails, ErrorText(whole.status()));
    return prepared;
  }
  prepared.values = *std::move(values);
  prepared.operands = *std::move(whole);
  auto states = StatesOf(checked_, tried, prepared.operands.outputs);
  Status expected = states.status();
  if (states.ok()) {
    prepared.states = *std::move(states);
    expected = SetExpected(&prepared);
  }
  if (expected.ok()) return prepared;
  prepared.problem.fault = FaultKind::kReference;
  prepared.problem.reason = ErrorText(expected);
  return prepared;
}

void Trials::Watch(const Built& built, size_t group, Outcome* outcome) const {
  const bool all = options_.local_sizes == LocalSizes::kAll;
  auto watch = std::make_shared<CustomWatch>();
  watch->local_sizes = [group, all, outcome](const CustomKernel& kernel,
                                             size_t) -> std::vector<size_t> {
    const bool open = IsOpen(kernel);
    outcome->open |= open;
    if (group == 0 || !(open || all)) return {};
    return LocalSizesFor(kernel.global, group);
  };
  built.means().watch = std::move(watch);
}

Status Trials::Run(const Built& built, const Prepared& prepared,
                   Outcome* outcome) const {
  for (uint32_t run = 0; run < options_.runs; ++run) {
    TIM_RETURN_IF_ERROR(WriteOutputs(built, prepared, kPoisons[run % 2]));
    if (!built.graph->Run()) return InvalidArgument(ReasonOf(*built.graph));
    for (size_t i = 0; i < built.outputs.size(); ++i) {
      Bytes result(prepared.expected[i].size());
      if (!built.outputs[i]->CopyDataFromTensor(result.data())) {
        return InvalidArgument("output ", i, ": ", LastError());
      }
      TIM_ASSIGN_OR_RETURN(const ir::TensorDesc desc,
                           ToIr(prepared.operands.outputs[i]));
      const auto difference =
          FindDifference(desc, result.data(), prepared.expected[i].data(),
                         checked_.outputs[i].tolerance);
      if (!difference) continue;
      outcome->fault = FaultKind::kWrongValue;
      outcome->operand = StrCat("output ", i);
      outcome->element = difference->element;
      outcome->actual = difference->actual;
      outcome->expected = difference->expected;
      outcome->reason =
          StrCat(difference->count, " of ",
                 desc.shape.NumElements().value_or(0), " elements are wrong");
      return OkStatus();
    }
  }
  return OkStatus();
}

Outcome Trials::Try(const Prepared& prepared, const Target& target) const {
  auto built = Build(*target.context, prepared.operands, Use::kRun);
  if (!built.ok()) {
    return FailureOf(FaultKind::kFails, ErrorText(built.status()));
  }
  Outcome outcome;
  Watch(*built, prepared.tried.group, &outcome);
  Status status = Write(*built, prepared);
  if (status.ok()) status = Run(*built, prepared, &outcome);
  if (!status.ok()) {
    const GuardMessage message = ReadGuardMessage(status.message());
    outcome.fault = message.kind;
    outcome.operand = message.operand;
    outcome.element = message.element;
    outcome.reason = status.message();
  }
  CustomMeans& means = built->means();
  const std::string& name = built->operation->impl()->name;
  outcome.launches = {.name = name.substr(name.find('.') + 1),
                      .text = means.watch->text,
                      .options = means.watch->options,
                      .kernels = means.watch->kernels,
                      .scalars = means.watch->scalars,
                      .optional = means.optional,
                      .scratch = means.scratch,
                      .tables = means.tables,
                      .locals = means.locals,
                      .zeroed = means.zeroed};
  means.watch = nullptr;
  return outcome;
}

}  // namespace tim::vx::check
