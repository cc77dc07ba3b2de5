// Asks the caller of an import for operators that the library does not take.

// FlexBuffers' texts are never read as numbers here, for which FlatBuffers has
// a library to link.
#define FLATBUFFERS_LOCALE_INDEPENDENT 0

#include "models/tflite/supplied.h"

#include <flatbuffers/flexbuffers.h>

#include "tim/vx/error.h"
#include "tim/vx/infer.h"

namespace tim::models::tflite {
namespace {

void AddOption(const std::string& key, const flexbuffers::Reference& value,
               SuppliedNode* node) {
  if (value.IsInt() || value.IsUInt() || value.IsBool()) {
    node->ints[key].push_back(value.IsBool() ? value.AsBool()
                                             : value.AsInt64());
  } else if (value.IsFloat()) {
    node->floats[key].push_back(value.AsDouble());
  } else if (value.IsString()) {
    node->texts[key].push_back(value.AsString().str());
  }
}

template <typename Vector>
void AddOptions(const std::string& key, const Vector& values,
                SuppliedNode* node) {
  for (size_t i = 0; i < values.size(); ++i) {
    AddOption(key, values[i], node);
  }
}

}  // namespace

Status ReadCustomOptions(const fbs::Operator& table, SuppliedNode* node) {
  const auto bytes = Items(table.custom_options());
  if (bytes.empty()) return OkStatus();
  std::vector<uint8_t> seen;
  if (table.custom_format() != 0 || bytes.size() < 3 ||
      !flexbuffers::VerifyBuffer(bytes.data(), bytes.size(), &seen)) {
    return InvalidArgument("the options are no FlexBuffers");
  }
  const auto root = flexbuffers::GetRoot(bytes.data(), bytes.size());
  if (!root.IsMap()) return InvalidArgument("the options are no map");
  const flexbuffers::Map map = root.AsMap();
  const flexbuffers::TypedVector keys = map.Keys();
  const flexbuffers::Vector values = map.Values();
  for (size_t i = 0; i < keys.size() && i < values.size(); ++i) {
    const std::string key = keys[i].AsKey();
    if (values[i].IsTypedVector()) {
      AddOptions(key, values[i].AsTypedVector(), node);
    } else if (values[i].IsUntypedVector()) {
      AddOptions(key, values[i].AsVector(), node);
    } else {
      AddOption(key, values[i], node);
    }
  }
  return OkStatus();
}

Result<bool> Supply(const NodeSupplier& supplier, Node* node) {
  SuppliedNode asked;
  asked.name = node->name;
  asked.op = node->op;
  // Options of another form are the supplier's to know.
  const Status options = ReadCustomOptions(*node->table, &asked);
  if (!options.ok()) {
    asked.ints.clear();
    asked.floats.clear();
    asked.texts.clear();
  }
  for (const Value& input : node->inputs) {
    if (input.IsAbsent()) {
      asked.inputs.push_back(nullptr);
      continue;
    }
    TIM_ASSIGN_OR_RETURN(auto tensor, node->builder().TensorOf(input));
    asked.inputs.push_back(std::move(tensor));
  }
  asked.output_count = node->declared.size();
  vx::Graph& graph = *node->builder().graph();
  const auto tensors = supplier(graph, asked);
  if (tensors.empty()) return false;
  if (tensors.size() != node->declared.size()) {
    return InvalidArgument("the supplier gave ", tensors.size(),
                           " tensors for ", node->declared.size(), " outputs");
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] == nullptr) {
      return InvalidArgument("the supplier gave no tensor for output ", i);
    }
    if (tensors[i]->GetShape().empty()) {
      const auto operation = graph.GetProducerOp(tensors[i]);
      if (operation == nullptr || !vx::InferOutputs(operation)) {
        return InvalidArgument(
            "the supplier's output ", i, ": ",
            operation == nullptr ? "nothing writes it" : vx::LastError());
      }
    }
    Value value = node->declared[i];
    value.type = tensors[i]->GetDataType();
    value.quantization = tensors[i]->GetQuantization();
    value.dims = ModelDims(tensors[i]->GetShape());
    value.tensor = tensors[i];
    // Scalars and INT64 of the file stay that.
    if (node->declared[i].dims.empty() && value.ElementCount() == 1) {
      value.dims.clear();
    }
    if (node->declared[i].type == vx::DataType::INT64 &&
        value.type == vx::DataType::INT32) {
      value.type = vx::DataType::INT64;
    }
    node->outputs[i] = std::move(value);
  }
  return true;
}

}  // namespace tim::models::tflite
