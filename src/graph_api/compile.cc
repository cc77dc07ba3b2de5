// Matches descriptions to ports, infers what they leave open, and chooses the
// places of ports.
#include "graph_api/compile.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "graph_api/error.h"
#include "graph_api/offload.h"
#include "graph_api/op_def.h"
#include "graph_api/open_outputs.h"
#include "graph_api/partitioning.h"
#include "graph_api/plan_probe.h"
#include "graph_api/port_layouts.h"

namespace tim::graph {
namespace {

const LogicalTensor* Find(const std::vector<LogicalTensor>& tensors,
                          size_t id) {
  const auto found = std::find_if(
      tensors.begin(), tensors.end(),
      [&](const LogicalTensor& tensor) { return tensor.id == id; });
  return found == tensors.end() ? nullptr : &*found;
}

bool IsConstant(const LogicalTensor& tensor) {
  return tensor.property == tim_graph_tensor_property_constant;
}

bool IsHostScalar(const LogicalTensor& tensor) {
  return tensor.property == tim_graph_tensor_property_host_scalar;
}

Status CheckWritable(const LogicalTensor& output, const ir::Layout& layout) {
  if (!layout.strided()) return OkStatus();
  ir::TensorDesc desc;
  desc.type = InnerType(output.data_type);
  desc.shape = ir::Shape(Reversed(DimsOf(output)));
  desc.layout = layout;
  return ir::CheckWritable(desc).WithContext(StrCat("output ", output.id));
}

// Bytes of a port in an execute.
Result<int64_t> BytesOf(const LogicalTensor& tensor, const Engine& engine) {
  if (IsEmpty(DimsOf(tensor))) return 0;
  ir::TensorDesc desc = InnerDesc(tensor);
  TIM_ASSIGN_OR_RETURN(desc.layout, LayoutOf(tensor, engine));
  return ir::ByteSize(desc);
}

class PartitionCompiler {
 public:
  PartitionCompiler(const CompileSource& source, const Residencies& residencies,
                    std::shared_ptr<tim_graph_engine> engine)
      : source_(source), residencies_(residencies) {
    parts_.partition = source.id;
    parts_.fpmath_mode = source.fpmath_mode;
    parts_.source.name =
        source.name.empty() ? StrCat("partition ", source.id) : source.name;
    parts_.source.engine = std::move(engine);
  }

  Status Compile(const std::vector<LogicalTensor>& inputs,
                 const std::vector<LogicalTensor>& outputs);
  CompiledPartition::Parts TakeParts() { return std::move(parts_); }
  const std::string& name() const { return parts_.source.name; }
  // Meaning of kInvalidArgument of the last step.
  tim_graph_status_t meaning() const { return meaning_; }

 private:
  const Engine& engine() const { return *parts_.source.engine; }
  Status CheckPartition() const;
  Status MatchPorts(const char* what, const std::vector<LogicalTensor>& ports,
                    const std::vector<LogicalTensor>& given,
                    std::vector<LogicalTensor>* matched);
  Status CheckInputs();
  Status PlaceInputs();
  Status InferOutputs(const LoweredOps& lowered);
  Status PlaceOutputs();
  Result<compiler::Port> PortOf(const LogicalTensor& tensor,
                                Residency residency) const;
  void FindConstants();
  void FindInPlace();
  // The port whose memory the output may take, or null.
  const LogicalTensor* InPlaceSource(const LogicalTensor& output) const;
  Status MakePlan(LoweredOps lowered);
  Status ProbeLayouts();

  const CompileSource& source_;
  const Residencies& residencies_;
  CompiledPartition::Parts parts_;
  tim_graph_status_t meaning_ = tim_graph_invalid_arguments;
};

Status PartitionCompiler::CheckPartition() const {
  if (!source_.supported) {
    const auto& ops = *source_.ops;
    const auto refused = std::find_if(ops.begin(), ops.end(), [](const Op& op) {
      return !CheckSupported(op).ok();
    });
    return InvalidArgument(
        "it is not supported; only partitions whose is_supported() is true "
        "can be compiled",
        refused == ops.end() ? "" : "; ",
        refused == ops.end() ? "" : CheckSupported(*refused).message());
  }
  if (parts_.source.engine == nullptr) {
    return InvalidArgument("the engine is empty");
  }
  if (engine().kind() == source_.kind) return OkStatus();
  return InvalidArgument(
      "the engine is of kind ", tim_graph_engine_kind2str(engine().kind()),
      ", the graph of ", tim_graph_engine_kind2str(source_.kind));
}

Status PartitionCompiler::MatchPorts(const char* what,
                                     const std::vector<LogicalTensor>& ports,
                                     const std::vector<LogicalTensor>& given,
                                     std::vector<LogicalTensor>* matched) {
  for (const LogicalTensor& port : ports) {
    meaning_ = tim_graph_invalid_arguments;
    const LogicalTensor* const found = Find(given, port.id);
    if (found == nullptr) {
      return InvalidArgument(what, " ", port.id,
                             " is a port and was given no logical tensor");
    }
    LogicalTensor tensor = *found;
    if (tensor.data_type == tim_graph_data_type_undef) {
      return InvalidArgument(what, " ", port.id, " has no data type");
    }
    if (tensor.layout_type == tim_graph_layout_type_undef) {
      return InvalidArgument(what, " ", port.id,
                             " has no layout; give it strides, an opaque "
                             "layout, or any");
    }
    if (port.data_type != tim_graph_data_type_undef &&
        port.data_type != tensor.data_type &&
        !IsConverted(port, tensor.data_type, residencies_)) {
      meaning_ = tim_graph_invalid_data_type;
      return InvalidArgument(what, " ", port.id, " is given as ",
                             tim_graph_dt2str(tensor.data_type),
                             ", the graph has it as ",
                             tim_graph_dt2str(port.data_type));
    }
    if (tensor.property == tim_graph_tensor_property_undef) {
      tensor.property = port.property;
    }
    matched->push_back(tensor);
  }
  return OkStatus();
}

Status PartitionCompiler::CheckInputs() {
  meaning_ = tim_graph_invalid_arguments;
  for (const LogicalTensor& input : parts_.source.inputs) {
    if (HasKnownDims(input)) continue;
    return InvalidArgument("input ", input.id,
                           " has unknown dims; a partition is compiled for "
                           "inputs of known dims");
  }
  return OkStatus();
}

Result<compiler::Port> PartitionCompiler::PortOf(const LogicalTensor& tensor,
                                                 Residency residency) const {
  const bool on_device = IsOnDevice(residency, engine());
  compiler::Port port{.device = on_device ? 1 : 0, .layout = {}};
  TIM_ASSIGN_OR_RETURN(port.layout, LayoutOf(tensor, engine()));
  // Strides may reach further than there are addresses.
  TIM_RETURN_IF_ERROR(BytesOf(tensor, engine())
                          .status()
                          .WithContext(StrCat("tensor ", tensor.id)));
  return port;
}

Status PartitionCompiler::PlaceInputs() {
  meaning_ = tim_graph_invalid_arguments;
  for (LogicalTensor& input : parts_.source.inputs) {
    if (input.layout_type == tim_graph_layout_type_any) SetDenseStrides(&input);
    PortPlace place{.id = input.id, .port = {}};
    TIM_ASSIGN_OR_RETURN(place.residency,
                         ResidencyOf(input, residencies_, engine()));
    if (!IsHostScalar(input)) {
      TIM_ASSIGN_OR_RETURN(place.port, PortOf(input, place.residency));
    }
    parts_.source.input_places.push_back(std::move(place));
  }
  return OkStatus();
}

// Dims that the ops give, where the description leaves them open.
Status PartitionCompiler::InferOutputs(const LoweredOps& lowered) {
  for (LogicalTensor& output : parts_.source.outputs) {
    const auto made = lowered.tensors.find(output.id);
    if (made == lowered.tensors.end()) {
      return TIM_INTERNAL("output ", output.id, " is made by no op");
    }
    const Dims& dims = made->second.dims;
    const bool strided = output.layout_type == tim_graph_layout_type_strided;
    const bool had_strides = output.ndims >= 0;
    output.ndims = static_cast<int>(dims.size());
    std::copy(dims.begin(), dims.end(), output.dims);
    if (strided && !had_strides) SetDenseStrides(&output);
  }
  return OkStatus();
}

Status PartitionCompiler::PlaceOutputs() {
  meaning_ = tim_graph_invalid_arguments;
  for (LogicalTensor& output : parts_.source.outputs) {
    PortPlace place{.id = output.id, .port = {}};
    TIM_ASSIGN_OR_RETURN(place.residency,
                         ResidencyOf(output, residencies_, engine()));
    const bool any = output.layout_type == tim_graph_layout_type_any;
    std::optional<compiler::Port> open;
    if (any && !IsEmpty(DimsOf(output))) {
      open = OpenPort(engine(), IsOnDevice(place.residency, engine()));
    }
    if (open) {
      place.port = *open;
    } else {
      if (any || (output.layout_type == tim_graph_layout_type_strided &&
                  !HasKnownStrides(output))) {
        SetDenseStrides(&output);
      }
      TIM_ASSIGN_OR_RETURN(place.port, PortOf(output, place.residency));
      TIM_RETURN_IF_ERROR(CheckWritable(output, place.port.layout));
    }
    parts_.source.output_places.push_back(std::move(place));
  }
  return OkStatus();
}

void PartitionCompiler::FindConstants() {
  for (size_t i = 0; i < parts_.source.inputs.size(); ++i) {
    const LogicalTensor& input = parts_.source.inputs[i];
    if (IsConstant(input) && !IsEmpty(DimsOf(input))) {
      parts_.constants.push_back(i);
    }
  }
}

const LogicalTensor* PartitionCompiler::InPlaceSource(
    const LogicalTensor& output) const {
  size_t id = output.id;
  const auto& ops = *source_.ops;
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    if (op->outputs.empty() || op->outputs[0].id != id) continue;
    if (!op->def->in_place || op->inputs.empty()) return nullptr;
    id = op->inputs[0].id;
    const auto readers = std::count_if(
        ops.begin(), ops.end(),
        [&](const Op& reader) { return Find(reader.inputs, id) != nullptr; });
    if (readers != 1) return nullptr;
  }
  const LogicalTensor* const input = Find(parts_.source.inputs, id);
  if (input == nullptr || IsConstant(*input) || IsHostScalar(*input)) {
    return nullptr;
  }
  LogicalTensor alike = *input;
  alike.id = output.id;
  return IsSamePort(output, alike) ? input : nullptr;
}

void PartitionCompiler::FindInPlace() {
  const PlanSource& source = parts_.source;
  for (size_t i = 0; i < source.outputs.size(); ++i) {
    const LogicalTensor* const input = InPlaceSource(source.outputs[i]);
    if (input == nullptr) continue;
    const auto from = static_cast<size_t>(input - source.inputs.data());
    if (IsOnDevice(source.input_places[from].residency, engine()) ==
        IsOnDevice(source.output_places[i].residency, engine())) {
      parts_.in_place.push_back({input->id, source.outputs[i].id});
    }
  }
}

Status PartitionCompiler::MakePlan(LoweredOps lowered) {
  PlanSource& source = parts_.source;
  for (const LogicalTensor& output : source.outputs) {
    parts_.has_work = parts_.has_work || !IsEmpty(DimsOf(output));
  }
  if (!parts_.has_work) return OkStatus();
  FindConstants();
  if (!parts_.constants.empty() && !RefusesHostSteps(engine()) &&
      UsesConstants(source)) {
    TIM_RETURN_IF_ERROR(CheckCompiles(lowered, engine()));
    return ProbeLayouts();
  }
  TIM_ASSIGN_OR_RETURN(parts_.plan,
                       Runnable::Create(std::move(lowered), source.input_places,
                                        source.output_places, engine()));
  TIM_ASSIGN_OR_RETURN(const bool same,
                       CloseOutputs(parts_.plan->plan_outputs(),
                                    parts_.plan->outputs(), &source));
  if (same) return OkStatus();
  TIM_ASSIGN_OR_RETURN(parts_.plan, tim::graph::MakePlan(source, {}));
  return OkStatus();
}

// Constants arrive with executes, layouts are asked for before.
Status PartitionCompiler::ProbeLayouts() {
  PlanSource& source = parts_.source;
  if (!HasOpenOutputs(source)) return OkStatus();
  const auto probed = ProbePlan(source, parts_.constants);
  if (probed.ok()) {
    TIM_RETURN_IF_ERROR(
        CloseOutputs(probed->outputs, probed->ports, &source).status());
  }
  CloseOutputs(&source);
  return OkStatus();
}

Status PartitionCompiler::Compile(const std::vector<LogicalTensor>& inputs,
                                  const std::vector<LogicalTensor>& outputs) {
  PlanSource& source = parts_.source;
  TIM_RETURN_IF_ERROR(CheckPartition());
  source.ops = *source_.ops;
  TIM_RETURN_IF_ERROR(
      MatchPorts("input", *source_.inputs, inputs, &source.inputs));
  TIM_RETURN_IF_ERROR(
      MatchPorts("output", *source_.outputs, outputs, &source.outputs));
  if (!residencies_.empty()) {
    ConvertPorts(source.inputs, source.outputs, &source.ops);
  }
  TIM_RETURN_IF_ERROR(CheckInputs());
  TIM_RETURN_IF_ERROR(PlaceInputs());
  meaning_ = tim_graph_invalid_shape;
  TIM_ASSIGN_OR_RETURN(
      LoweredOps lowered,
      LowerOps(source.name, source.ops, source.inputs, source.outputs));
  TIM_RETURN_IF_ERROR(InferOutputs(lowered));
  TIM_RETURN_IF_ERROR(PlaceOutputs());
  meaning_ = tim_graph_runtime_error;
  TIM_RETURN_IF_ERROR(MakePlan(std::move(lowered)));
  for (const LogicalTensor& input : source.inputs) {
    TIM_ASSIGN_OR_RETURN(parts_.input_bytes.emplace_back(),
                         BytesOf(input, engine()));
  }
  for (const LogicalTensor& output : source.outputs) {
    TIM_ASSIGN_OR_RETURN(parts_.output_bytes.emplace_back(),
                         BytesOf(output, engine()));
  }
  FindInPlace();
  return OkStatus();
}

}  // namespace

CompileResult Compile(const CompileSource& source,
                      const std::vector<LogicalTensor>& inputs,
                      const std::vector<LogicalTensor>& outputs,
                      std::shared_ptr<tim_graph_engine> engine,
                      const Residencies& residencies) {
  PartitionCompiler compiler(source, residencies, std::move(engine));
  CompileResult result;
  result.status =
      GuardedCall([&] { return compiler.Compile(inputs, outputs); });
  if (result.status.ok()) {
    result.compiled = std::make_shared<CompiledPartition>(compiler.TakeParts());
    return result;
  }
  result.code = result.status.code() == StatusCode::kInvalidArgument
                    ? compiler.meaning()
                    : CodeOf(result.status.code());
  result.status = result.status.WithContext(compiler.name());
  return result;
}

}  // namespace tim::graph
