#include "tensor_file.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace digits {
namespace {

using tim::vx::DataType;

const char kMagic[] = "timcl-tensors 1";

struct ElementType {
  DataType type;
  std::size_t bytes;
};

const std::map<std::string, ElementType>& ElementTypes() {
  static const std::map<std::string, ElementType> types = {
      {"f32", {DataType::FLOAT32, 4}},
      {"i32", {DataType::INT32, 4}},
      {"u8", {DataType::UINT8, 1}}};
  return types;
}

// Moves the next bytes of `in` to tensor->data, as many as the shape asks for.
bool ReadData(const std::string& in, std::size_t element_bytes,
              std::size_t* offset, StoredTensor* tensor) {
  if (tensor->shape.empty()) return true;
  const std::size_t left = in.size() - *offset;
  std::size_t bytes = element_bytes;
  for (const std::uint32_t extent : tensor->shape) {
    if (extent == 0 || extent > left / bytes) return false;
    bytes *= extent;
  }
  const auto first = in.begin() + static_cast<std::ptrdiff_t>(*offset);
  tensor->data.assign(first, first + static_cast<std::ptrdiff_t>(bytes));
  *offset += bytes;
  return true;
}

// One header line: tensor NAME TYPE SCALE ZERO_POINT [EXTENT...]
bool ReadTensor(const std::string& line, const std::string& in,
                std::size_t* offset, TensorFile* file) {
  std::istringstream fields(line);
  std::string keyword, name, type;
  StoredTensor tensor;
  fields >> keyword >> name >> type >> tensor.scale >> tensor.zero_point;
  if (!fields || keyword != "tensor") return false;
  std::uint32_t extent = 0;
  while (fields >> extent) tensor.shape.push_back(extent);
  const auto it = ElementTypes().find(type);
  if (!fields.eof() || it == ElementTypes().end()) return false;
  tensor.type = it->second.type;
  return ReadData(in, it->second.bytes, offset, &tensor) &&
         file->emplace(name, std::move(tensor)).second;
}

bool ParseTensors(const std::string& in, TensorFile* file, std::string* error) {
  const std::string end_of_header = "\ndata\n";
  const std::size_t end = in.find(end_of_header);
  std::istringstream header(in.substr(0, end));
  std::string line;
  if (end == std::string::npos || !std::getline(header, line) ||
      line != kMagic) {
    *error = std::string("it is not a '") + kMagic + "' file";
    return false;
  }
  std::size_t offset = end + end_of_header.size();
  while (std::getline(header, line)) {
    if (ReadTensor(line, in, &offset, file)) continue;
    *error = "bad entry, or data missing for '" + line + "'";
    return false;
  }
  if (offset == in.size()) return true;
  *error = std::to_string(in.size() - offset) + " bytes too many";
  return false;
}

}  // namespace

tim::vx::Quantization StoredTensor::Quantization() const {
  if (type == DataType::FLOAT32) return tim::vx::Quantization();
  return tim::vx::Quantization(tim::vx::QuantType::ASYMMETRIC, scale,
                               zero_point);
}

bool ReadTensorFile(const std::string& path, TensorFile* file,
                    std::string* error) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    *error = path + ": cannot be opened";
    return false;
  }
  const std::string content{std::istreambuf_iterator<char>(stream),
                            std::istreambuf_iterator<char>()};
  file->clear();
  if (ParseTensors(content, file, error)) return true;
  *error = path + ": " + *error;
  return false;
}

}  // namespace digits
