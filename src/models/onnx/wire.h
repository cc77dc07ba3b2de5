// Fields of a message in protobuf's wire format, read where they lie.
#ifndef TIM_MODELS_ONNX_WIRE_H_
#define TIM_MODELS_ONNX_WIRE_H_

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tim::models::onnx {

/// How a field is stored; values are the format's.
enum class WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// One field of a message.
struct Field {
  int number = 0;
  WireType type = WireType::kVarint;
  uint64_t number_value = 0;    ///< Of all types but kBytes.
  std::string_view bytes = {};  ///< Part of the message.

  int64_t AsInt() const { return static_cast<int64_t>(number_value); }
  float AsFloat() const {
    return std::bit_cast<float>(static_cast<uint32_t>(number_value));
  }
};

/// Goes through the fields of a message:
///     while (reader.Next()) Use(reader.field());
///     TIM_RETURN_IF_ERROR(reader.status());
class WireReader {
 public:
  /// \param message outlives what is read.  \param what names it in errors.
  WireReader(std::string_view message, const char* what)
      : begin_(message.data()), rest_(message), what_(what) {}

  /// False at the end and where the message is broken: see status().
  bool Next();
  const Field& field() const { return field_; }
  const Status& status() const { return status_; }

 private:
  bool Broken(const char* reason);
  bool ReadVarint(uint64_t* value);
  bool ReadFixed(size_t bytes, uint64_t* value);

  const char* begin_;
  std::string_view rest_;
  const char* what_;
  Field field_;
  Status status_;
};

// Appends the elements of a repeated field, packed or not.
Status AppendInts(const Field& field, std::vector<int64_t>* values);
Status AppendFloats(const Field& field, std::vector<float>* values);
Status AppendDoubles(const Field& field, std::vector<double>* values);

}  // namespace tim::models::onnx

#endif  // TIM_MODELS_ONNX_WIRE_H_
