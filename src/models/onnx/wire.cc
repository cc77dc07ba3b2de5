// Reads protobuf's wire format without a copy of what it holds.
#include "models/onnx/wire.h"

#include <cstring>

namespace tim::models::onnx {
namespace {

// Reads a varint at the beginning of `rest` and takes it away.
bool TakeVarint(std::string_view* rest, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < 10 && i < rest->size(); ++i) {
    const auto byte = static_cast<uint8_t>((*rest)[i]);
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      rest->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

template <typename T>
Status AppendFixed(const Field& field, WireType single,
                   std::vector<T>* values) {
  if (field.type == single) {
    T value;
    std::memcpy(&value, &field.number_value, sizeof(T));
    values->push_back(value);
    return OkStatus();
  }
  if (field.type != WireType::kBytes || field.bytes.size() % sizeof(T) != 0) {
    return InvalidArgument("the file is damaged: field ", field.number,
                           " is no list of numbers of ", sizeof(T), " bytes");
  }
  const size_t old = values->size();
  values->resize(old + field.bytes.size() / sizeof(T));
  if (!field.bytes.empty()) {
    std::memcpy(values->data() + old, field.bytes.data(), field.bytes.size());
  }
  return OkStatus();
}

}  // namespace

bool WireReader::Broken(const char* reason) {
  status_ = InvalidArgument("the file is cut or damaged: ", what_, ", byte ",
                            rest_.data() - begin_, ": ", reason);
  return false;
}

bool WireReader::ReadVarint(uint64_t* value) {
  return TakeVarint(&rest_, value) || Broken("a number does not end");
}

bool WireReader::ReadFixed(size_t bytes, uint64_t* value) {
  if (rest_.size() < bytes) return Broken("a number does not end");
  *value = 0;
  std::memcpy(value, rest_.data(), bytes);
  rest_.remove_prefix(bytes);
  return true;
}

bool WireReader::Next() {
  if (rest_.empty() || !status_.ok()) return false;
  uint64_t tag = 0;
  if (!ReadVarint(&tag)) return false;
  field_ = Field();
  if (tag >> 3 == 0 || tag >> 3 > 536'870'911) return Broken("no field");
  field_.number = static_cast<int>(tag >> 3);
  field_.type = static_cast<WireType>(tag & 7);
  switch (field_.type) {
    case WireType::kVarint:
      return ReadVarint(&field_.number_value);
    case WireType::kFixed64:
      return ReadFixed(8, &field_.number_value);
    case WireType::kFixed32:
      return ReadFixed(4, &field_.number_value);
    case WireType::kBytes: {
      uint64_t size = 0;
      if (!ReadVarint(&size)) return false;
      if (size > rest_.size()) return Broken("a field is longer than the rest");
      field_.bytes = rest_.substr(0, static_cast<size_t>(size));
      rest_.remove_prefix(static_cast<size_t>(size));
      return true;
    }
  }
  return Broken("a field of an unknown kind");
}

Status AppendInts(const Field& field, std::vector<int64_t>* values) {
  if (field.type == WireType::kVarint) {
    values->push_back(field.AsInt());
    return OkStatus();
  }
  std::string_view rest = field.bytes;
  uint64_t value = 0;
  while (!rest.empty()) {
    if (!TakeVarint(&rest, &value)) {
      return InvalidArgument("the file is damaged: a number in the list of ",
                             "field ", field.number, " does not end");
    }
    values->push_back(static_cast<int64_t>(value));
  }
  if (field.type != WireType::kBytes) {
    return InvalidArgument("the file is damaged: field ", field.number,
                           " is no list of integers");
  }
  return OkStatus();
}

Status AppendFloats(const Field& field, std::vector<float>* values) {
  return AppendFixed(field, WireType::kFixed32, values);
}

Status AppendDoubles(const Field& field, std::vector<double>* values) {
  return AppendFixed(field, WireType::kFixed64, values);
}

}  // namespace tim::models::onnx
