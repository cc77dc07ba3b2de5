// Inputs and outputs of ONNX models: shapes that files leave open, values that
// are known, types that are not taken.
#include <set>
#include <utility>

#include "models/onnx/element_type.h"
#include "models/onnx/importer.h"

namespace tim::models::onnx {
namespace {

std::string KindName(ValueMessage::Kind kind) {
  switch (kind) {
    case ValueMessage::Kind::kSparse:
      return "a sparse tensor";
    case ValueMessage::Kind::kSequence:
      return "a sequence";
    case ValueMessage::Kind::kMap:
      return "a map";
    case ValueMessage::Kind::kOptional:
      return "an optional";
    default:
      return "without a type";
  }
}

std::string DescribeExtents(const ValueMessage& value) {
  if (!value.has_shape) return "of unknown rank";
  std::vector<std::string> extents;
  for (const ExtentMessage& extent : value.shape) {
    if (extent.value > 0) {
      extents.push_back(StrCat(extent.value));
    } else {
      extents.push_back(extent.name.empty() ? "?" : std::string(extent.name));
    }
  }
  return StrCat("[", StrJoin(extents, ","), "]");
}

// The extents of an input; those that stay open are -1.
Result<Dims> DimsOf(const ValueMessage& input, const ImportOptions& options) {
  const auto given = options.shapes.find(std::string(input.name));
  if (given != options.shapes.end()) {
    if (input.has_shape && given->second.size() != input.shape.size()) {
      return InvalidArgument(
          "input '", input.name, "' is ", DescribeExtents(input), ", but ",
          "ImportOptions::shapes gives it ", given->second.size(), " extents");
    }
    for (const int64_t extent : given->second) {
      if (extent > 0) continue;
      return InvalidArgument("ImportOptions::shapes gives input '", input.name,
                             "' the extent ", extent);
    }
    return given->second;
  }
  Dims dims;
  for (const ExtentMessage& extent : input.shape) {
    const auto named = options.dimensions.find(std::string(extent.name));
    if (extent.value > 0) {
      dims.push_back(extent.value);
    } else if (!extent.name.empty() && named != options.dimensions.end()) {
      if (named->second <= 0) {
        return InvalidArgument("ImportOptions::dimensions gives '", extent.name,
                               "' the extent ", named->second);
      }
      dims.push_back(named->second);
    } else {
      dims.push_back(-1);
    }
  }
  if (!input.has_shape) dims = {-1};
  return dims;
}

bool HasOpen(const Dims& dims) {
  for (const int64_t extent : dims) {
    if (extent < 0) return true;
  }
  return false;
}

// The content that the caller gives an input.
Result<HostArray> ArrayOfGiven(const ValueMessage& input,
                               const GivenTensor& given) {
  const std::string context =
      StrCat("ImportOptions::values gives input '", input.name, "' ");
  const int64_t bytes = ByteSizeOf(given.type, given.dims);
  if (given.type == vx::DataType::UNKNOWN || bytes < 0) {
    return InvalidArgument(
        context, "a tensor without a type or with impossible ", "extents");
  }
  if (bytes > 0 && given.data == nullptr) {
    return InvalidArgument(context, "no data");
  }
  const auto type = DataTypeOf(input.data_type);
  if (type.ok() && *type != given.type) {
    return InvalidArgument(context, "elements of another type than ",
                           TypeName(input.data_type));
  }
  bool fits = !input.has_shape || input.shape.size() == given.dims.size();
  for (size_t i = 0; input.has_shape && fits && i < given.dims.size(); ++i) {
    const int64_t extent = input.shape[i].value;
    fits = extent <= 0 || extent == given.dims[i];
  }
  if (!fits) {
    return InvalidArgument(context, "extents [", StrJoin(given.dims, ","),
                           "]; it is ", DescribeExtents(input));
  }
  return HostArray{given.type, given.dims, static_cast<size_t>(bytes),
                   given.data};
}

}  // namespace

Status Importer::CheckOptions() const {
  std::set<std::string> inputs;
  std::set<std::string> extents;
  for (const ValueMessage& input : model_.graph.inputs) {
    inputs.emplace(input.name);
    for (const ExtentMessage& extent : input.shape)
      extents.emplace(extent.name);
  }
  const auto check = [&inputs](const std::string& name, const char* option) {
    if (inputs.count(name) != 0) return OkStatus();
    return InvalidArgument("ImportOptions::", option, " names '", name,
                           "', which is no input; inputs are ",
                           StrJoin(inputs, ", "));
  };
  for (const auto& [name, dims] : options_.shapes) {
    TIM_RETURN_IF_ERROR(check(name, "shapes"));
  }
  for (const auto& [name, given] : options_.values) {
    TIM_RETURN_IF_ERROR(check(name, "values"));
  }
  for (const auto& [name, extent] : options_.dimensions) {
    if (extents.count(name) != 0) continue;
    return InvalidArgument("ImportOptions::dimensions names '", name,
                           "', which is no extent of an input");
  }
  return OkStatus();
}

Status Importer::AddInput(const ValueMessage& input, Scope* scope,
                          std::vector<std::string>* open) {
  const std::string name(input.name);
  const auto refuse = [&](const std::string& reason) {
    refusals_.push_back({name, "input", "", reason});
    scope->names.insert_or_assign(input.name, Known::Refused());
    return OkStatus();
  };
  const auto given = options_.values.find(name);
  if (given != options_.values.end()) {
    TIM_ASSIGN_OR_RETURN(HostArray array, ArrayOfGiven(input, given->second));
    scope->names.insert_or_assign(
        input.name, Known{builder_->Constant(std::move(array), name)});
    return OkStatus();
  }
  if (scope->tensors.count(input.name) != 0 ||
      scope->sparse_tensors.count(input.name) != 0) {
    return OkStatus();
  }
  if (input.kind != ValueMessage::Kind::kTensor) {
    return refuse(
        StrCat("it is ", KindName(input.kind), "; tensors are taken"));
  }
  const auto type = DataTypeOf(input.data_type);
  if (!type.ok()) return refuse(type.status().message());
  TIM_ASSIGN_OR_RETURN(const Dims dims, DimsOf(input, options_));
  if (HasOpen(dims)) {
    open->push_back(StrCat("'", name, "' ", TypeName(input.data_type), " ",
                           DescribeExtents(input)));
    return OkStatus();
  }
  auto added = builder_->AddInput(name, *type, dims);
  if (!added.ok()) return refuse(added.status().message());
  added->name = name;
  scope->names.insert_or_assign(input.name, Known{*std::move(added)});
  return OkStatus();
}

Status Importer::AddInputs(Scope* scope) {
  TIM_RETURN_IF_ERROR(CheckOptions());
  std::vector<std::string> open;
  std::set<std::string_view> names;
  for (const ValueMessage& input : model_.graph.inputs) {
    if (!names.insert(input.name).second) {
      return InvalidArgument("two inputs have the name '", input.name, "'");
    }
    TIM_RETURN_IF_ERROR(AddInput(input, scope, &open));
  }
  if (open.empty()) return OkStatus();
  return InvalidArgument(
      "the model leaves extents of its inputs open: ", StrJoin(open, ", "),
      "; give whole shapes by input as ImportOptions::shapes, or extents by "
      "their names as ImportOptions::dimensions");
}

Status Importer::AddOutputs(Scope* scope) {
  std::set<std::string_view> names;
  if (model_.graph.outputs.empty()) {
    return InvalidArgument("the model has no outputs");
  }
  for (const ValueMessage& output : model_.graph.outputs) {
    if (!names.insert(output.name).second) {
      return InvalidArgument("two outputs have the name '", output.name, "'");
    }
    TIM_ASSIGN_OR_RETURN(const Known known, Find(output.name, scope));
    if (known.is_refused) continue;
    const std::string name(output.name);
    if (!known.missing.empty()) {
      refusals_.push_back({name, "output", "", known.missing});
      continue;
    }
    if (known.sequence != nullptr) {
      refusals_.push_back(
          {name, "output", "", "it is a sequence; tensors are taken"});
      continue;
    }
    const auto type = DataTypeOf(output.data_type);
    if (output.kind == ValueMessage::Kind::kTensor && output.data_type != 0 &&
        (!type.ok() || *type != known.value.type)) {
      refusals_.push_back(
          {name, "output", "",
           StrCat("the file says that it is ", TypeName(output.data_type),
                  ", but here it is ", tim::models::Describe(known.value))});
      continue;
    }
    const Status added = builder_->AddOutput(name, known.value);
    if (!added.ok()) {
      refusals_.push_back({name, "output", "", added.message()});
    }
  }
  for (const auto& [name, trips] : trips_) {
    if (!names.insert(name).second) {
      return InvalidArgument("two outputs have the name '", name, "', which ",
                             "the count of a loop's trips has; give the loop ",
                             "or the output another name");
    }
    TIM_RETURN_IF_ERROR(builder_->AddOutput(name, trips));
  }
  return OkStatus();
}

}  // namespace tim::models::onnx
