// Finds out what the inputs and outputs of a model are called, and how large
// its inputs are.
#include "models/tflite/ports.h"

#include <cstring>

namespace tim::models::tflite {
namespace {

std::map<int, std::string> NamesOf(
    const flatbuffers::Vector<flatbuffers::Offset<fbs::NamedTensor>>* named) {
  std::map<int, std::string> names;
  if (named == nullptr) return names;
  for (const fbs::NamedTensor* entry : *named) {
    if (entry->name() == nullptr) continue;
    names[static_cast<int>(entry->tensor())] = entry->name()->str();
  }
  return names;
}

}  // namespace

Result<Signature> SignatureOf(const File& file, const std::string& key) {
  Signature found;
  if (key.empty()) return found;
  std::vector<std::string> keys;
  if (file.model().signatures() != nullptr) {
    for (const fbs::Signature* signature : *file.model().signatures()) {
      const std::string name =
          signature->key() == nullptr ? std::string() : signature->key()->str();
      keys.push_back(name);
      if (name != key) continue;
      found.subgraph = static_cast<int>(signature->subgraph());
      found.inputs = NamesOf(signature->inputs());
      found.outputs = NamesOf(signature->outputs());
      return found;
    }
  }
  return NotFound("the file has no signature '", key, "'; it has [",
                  StrJoin(keys, ", "), "]");
}

Result<Dims> InputDims(const fbs::Tensor& tensor, const Value& declared,
                       const std::string& name, const ImportOptions& options,
                       std::vector<std::string>* warnings) {
  const auto given = options.shapes.find(name);
  if (given != options.shapes.end()) {
    for (const int64_t extent : given->second) {
      if (extent >= 1 && extent <= INT32_MAX) continue;
      return InvalidArgument("input '", name, "' is given the extent ", extent);
    }
    return given->second;
  }
  for (const int64_t extent : declared.dims) {
    if (extent >= 1) continue;
    return InvalidArgument("input '", name, "' has extents [",
                           StrJoin(declared.dims, ","),
                           "]; give its shape in ImportOptions::shapes");
  }
  const auto open = Items(tensor.open_shape());
  for (const int32_t extent : open) {
    if (extent >= 0) continue;
    warnings->push_back(StrCat("input '", name, "' leaves extents open: [",
                               StrJoin(open, ","), "] is taken as [",
                               StrJoin(declared.dims, ","), "]"));
    break;
  }
  return declared.dims;
}

Result<Value> GivenValue(const GivenTensor& given, const Value& declared,
                         const std::string& name) {
  const int64_t bytes = ByteSizeOf(given.type, given.dims);
  if (given.type != declared.type || bytes < 0 || given.data == nullptr) {
    return InvalidArgument("the values given for input '", name,
                           "' have no elements or another type");
  }
  HostArray array;
  array.type = given.type;
  array.dims = given.dims;
  array.bytes = static_cast<size_t>(bytes);
  array.data = given.data;
  Value value = declared;
  value.dims = given.dims;
  value.constant = std::make_shared<const HostArray>(std::move(array));
  return value;
}

}  // namespace tim::models::tflite
