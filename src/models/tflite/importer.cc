// Walks the operators of a TFLite subgraph and collects what is not taken.
#include "models/tflite/importer.h"

#include <algorithm>

#include "models/tflite/fold.h"
#include "models/tflite/supplied.h"

namespace tim::models::tflite {
namespace {

// The memory of an input that nobody has asked for but the file.
constexpr int64_t kMostInputBytes = int64_t{1} << 26;
constexpr int64_t kMostInlinedOperators = int64_t{1} << 16;

}  // namespace

Importer::Importer(const File& file, const TfliteOptions& options,
                   GraphBuilder* builder, Model* model)
    : file_(file),
      options_(options),
      model_(model),
      workspace_(file, builder),
      operators_left_(kMostInlinedOperators) {}

Status Importer::Run() {
  TIM_ASSIGN_OR_RETURN(signature_, SignatureOf(file_, options_.signature));
  subgraph_ = file_.model().subgraphs()->Get(signature_.subgraph);
  if (subgraph_->tensors() != nullptr) {
    tensors_.resize(subgraph_->tensors()->size());
  }
  TIM_RETURN_IF_ERROR(CheckOptions());
  TIM_RETURN_IF_ERROR(AddInputs());
  if (subgraph_->operators() != nullptr) {
    int number = 0;
    for (const fbs::Operator* table : *subgraph_->operators()) {
      TIM_RETURN_IF_ERROR(AddOperator(*table, number++));
    }
  }
  for (const std::string& warning : workspace_.warnings) {
    model_->warnings.push_back(warning);
  }
  if (!model_->refusals.empty()) return OkStatus();
  for (const auto& [state, next] : workspace_.updates) {
    TIM_RETURN_IF_ERROR(workspace_.builder().SetState(state, next));
  }
  for (const auto& [name, resource] : workspace_.resources) {
    if (resource.state.IsAbsent()) continue;
    TIM_RETURN_IF_ERROR(
        workspace_.builder().SetState(resource.state, resource.current));
  }
  return AddOutputs();
}

std::string Importer::NameOf(int tensor) const {
  const fbs::Tensor& table = *subgraph_->tensors()->Get(tensor);
  return table.name() == nullptr ? StrCat("tensor ", tensor)
                                 : table.name()->str();
}

Status Importer::CheckOptions() const {
  if (!options_.dimensions.empty()) {
    return InvalidArgument("extent '", options_.dimensions.begin()->first,
                           "' is given; files of this format have no names "
                           "for extents: give the shapes of inputs");
  }
  std::vector<std::string> names;
  for (const int32_t tensor : Items(subgraph_->inputs())) {
    const auto named = signature_.inputs.find(tensor);
    names.push_back(named != signature_.inputs.end() ? named->second
                                                     : NameOf(tensor));
  }
  const auto check = [&names](const auto& given, const char* what) {
    for (const auto& [name, value] : given) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      return InvalidArgument(what, " of '", name, "', which is no input; the ",
                             "inputs are [", StrJoin(names, ", "), "]");
    }
    return OkStatus();
  };
  TIM_RETURN_IF_ERROR(check(options_.shapes, "a shape is given"));
  return check(options_.values, "values are given");
}

Status Importer::AddInputs() {
  for (const int32_t tensor : Items(subgraph_->inputs())) {
    Known& known = tensors_[tensor];
    if (known.state != Known::State::kNo) {
      return InvalidArgument("tensor '", NameOf(tensor), "' is an input twice");
    }
    const fbs::Tensor& table = *subgraph_->tensors()->Get(tensor);
    const auto named = signature_.inputs.find(tensor);
    const std::string name =
        named != signature_.inputs.end() ? named->second : NameOf(tensor);
    TIM_ASSIGN_OR_RETURN(const Value declared, DeclaredOf(table));
    known.state = Known::State::kYes;
    const auto given = options_.values.find(name);
    if (given != options_.values.end()) {
      TIM_ASSIGN_OR_RETURN(known.value,
                           GivenValue(given->second, declared, name));
      continue;
    }
    TIM_ASSIGN_OR_RETURN(
        const Dims dims,
        InputDims(table, declared, name, options_, &workspace_.warnings));
    const int64_t bytes = ByteSizeOf(declared.type, dims);
    if (options_.shapes.count(name) == 0 &&
        (bytes < 0 || bytes > kMostInputBytes)) {
      return InvalidArgument("input '", name, "' has extents [",
                             StrJoin(dims, ","),
                             "], which is much; where that is meant, give "
                             "them in ImportOptions::shapes");
    }
    TIM_ASSIGN_OR_RETURN(
        known.value, workspace_.builder().AddInput(name, declared.type, dims,
                                                   declared.quantization));
  }
  return OkStatus();
}

Status Importer::AddOutputs() {
  for (const int32_t tensor : Items(subgraph_->outputs())) {
    const auto named = signature_.outputs.find(tensor);
    const std::string name =
        named != signature_.outputs.end() ? named->second : NameOf(tensor);
    TIM_ASSIGN_OR_RETURN(const Value value, ValueOf(tensor));
    TIM_RETURN_IF_ERROR(workspace_.SpendOutput(value.ElementCount()));
    TIM_RETURN_IF_ERROR(workspace_.builder().AddOutput(name, value));
  }
  return OkStatus();
}

Result<Value> Importer::StateOf(int tensor) {
  const fbs::Tensor& table = *subgraph_->tensors()->Get(tensor);
  TIM_ASSIGN_OR_RETURN(const Value declared, DeclaredOf(table));
  if (depth_ > 0) {
    return Unimplemented("'", NameOf(tensor),
                         "' is a variable of a subgraph "
                         "that an operator calls");
  }
  const int64_t bytes = ByteSizeOf(declared.type, declared.dims);
  TIM_RETURN_IF_ERROR(workspace_.Spend(std::max<int64_t>(bytes, 0)));
  return workspace_.builder().AddState(declared.name, declared.type,
                                       declared.dims, declared.quantization);
}

Result<Value> Importer::ValueOf(int tensor) {
  Known& known = tensors_[tensor];
  if (known.state == Known::State::kYes) return known.value;
  const fbs::Tensor& table = *subgraph_->tensors()->Get(tensor);
  if (known.state == Known::State::kLost) {
    reads_lost_ = true;
    return FailedPrecondition("'", NameOf(tensor), "' is not known");
  }
  if (table.is_variable()) {
    TIM_ASSIGN_OR_RETURN(known.value, StateOf(tensor));
    known.state = Known::State::kYes;
    return known.value;
  }
  const auto kept = constants_.find(&table);
  if (kept != constants_.end()) {
    known.value = kept->second;
    known.state = Known::State::kYes;
    return known.value;
  }
  TIM_ASSIGN_OR_RETURN(Value value, DeclaredOf(table));
  const bool is_empty = ByteSizeOf(value.type, value.dims) == 0;
  if (table.buffer() == 0 && !is_empty) {
    return InvalidArgument("tensor '", NameOf(tensor),
                           "' is read, and nothing before has written it");
  }
  TIM_RETURN_IF_ERROR(ReadConstant(file_, table, &value));
  if (value.constant->data.use_count() == 1) {
    TIM_RETURN_IF_ERROR(
        workspace_.Spend(static_cast<int64_t>(value.constant->bytes)));
  }
  known.value = std::move(value);
  known.state = Known::State::kYes;
  // Every trip of a loop reads its constants.
  if (depth_ > 0) constants_[&table] = known.value;
  return known.value;
}

Status Importer::ReadOperands(Node* node) {
  size_t place = 0;
  for (const int32_t tensor : Items(node->table->inputs())) {
    node->inputs.emplace_back();
    node->resource_names.emplace_back();
    if (tensor >= 0) {
      node->resource_names.back() = tensors_[tensor].resource;
      if (tensors_[tensor].resource.empty()) {
        auto value = ValueOf(tensor);
        if (!value.ok()) {
          node->about = StrCat("input ", place);
          return value.status();
        }
        node->inputs.back() = *std::move(value);
      }
    }
    ++place;
  }
  place = 0;
  for (const int32_t tensor : Items(node->table->outputs())) {
    node->declared.emplace_back();
    if (tensor >= 0) {
      const fbs::Tensor& table = *subgraph_->tensors()->Get(tensor);
      // A handle is no value.
      if (table.type() != fbs::TensorType::RESOURCE ||
          node->op != "VAR_HANDLE") {
        auto declared = DeclaredOf(table);
        if (!declared.ok()) {
          node->about = StrCat("output ", place);
          return declared.status();
        }
        node->declared.back() = *std::move(declared);
      }
    }
    ++place;
  }
  return OkStatus();
}

Status Importer::Convert(Node* node) {
  if (IsControlFlow(node->op)) return ConvertControlFlow(node);
  const auto found = Operators().find(node->op);
  Status status;
  if (found == Operators().end()) {
    status = node->Refuse("", "the library has no such operator");
    if (!options_.supplier) return status;
  }
  TIM_RETURN_IF_ERROR(ReadOperands(node));
  node->outputs.resize(node->declared.size());
  if (found != Operators().end()) {
    TIM_ASSIGN_OR_RETURN(const bool is_folded, Fold(node));
    if (is_folded) return OkStatus();
    status = found->second(*node);
    if (status.ok() || !options_.supplier) return status;
    node->outputs.assign(node->declared.size(), Value());
    node->handle.clear();
  }
  TIM_ASSIGN_OR_RETURN(const bool is_supplied, Supply(options_.supplier, node));
  return is_supplied ? OkStatus() : status;
}

Status Importer::Store(const Node& node) {
  const auto outputs = Items(node.table->outputs());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] < 0) continue;
    Known& known = tensors_[outputs[i]];
    if (known.state != Known::State::kNo || !known.resource.empty() ||
        file_.BufferOf(*subgraph_->tensors()->Get(outputs[i])).size() != 0) {
      return InvalidArgument("operator ", node.name, " writes tensor '",
                             NameOf(outputs[i]),
                             "', which is an input, a constant, or written "
                             "before");
    }
    if (i == 0 && !node.handle.empty()) {
      known.resource = node.handle;
      continue;
    }
    if (node.outputs[i].IsAbsent()) {
      return TIM_INTERNAL(node.op, " has set no output ", i);
    }
    known.value = node.outputs[i];
    known.state = Known::State::kYes;
  }
  return OkStatus();
}

void Importer::StandIn(const fbs::Operator& table) {
  for (const int32_t tensor : Items(table.outputs())) {
    if (tensor < 0) continue;
    Known& known = tensors_[tensor];
    if (known.state != Known::State::kNo) continue;
    known.state = Known::State::kLost;
    const auto declared = DeclaredOf(*subgraph_->tensors()->Get(tensor));
    if (!declared.ok() || ByteSizeOf(declared->type, declared->dims) <= 0) {
      continue;
    }
    // The graph will not be used.
    known.value = *declared;
    known.value.tensor = workspace_.builder().graph()->CreateTensor(
        vx::TensorSpec(GraphType(declared->type), GraphShape(declared->dims),
                       vx::TRANSIENT, declared->quantization));
    known.state = Known::State::kYes;
  }
}

Status Importer::AddOperator(const fbs::Operator& table, int number) {
  Node node;
  node.name = StrCat(path_, "#", number);
  node.op = file_.NameOf(table);
  // Trips of a loop are one node of the file.
  if (depth_ == 0 || counted_.count(subgraph_) == 0) {
    ++model_->operators[node.op];
  }
  node.table = &table;
  node.workspace = &workspace_;
  reads_lost_ = false;
  workspace_.builder().SetNode(StrCat(node.op, " ", node.name));
  const Status status = Convert(&node);
  if (status.ok()) return Store(node);
  StandIn(table);
  // Operators that depend on a refused one are no refusals of their own.
  if (reads_lost_) return OkStatus();
  model_->refusals.push_back(
      {node.name, node.op, node.about, status.message()});
  return OkStatus();
}

}  // namespace tim::models::tflite
