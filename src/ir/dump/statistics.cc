// Counts and means over the elements of an array.
#include "ir/dump/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.h"

namespace tim::ir {
namespace {

class Counter {
 public:
  explicit Counter(const DataTypeInfo* saturating) : codes_(saturating) {}

  void Add(double value) {
    ++found_.elements;
    if (std::isnan(value)) {
      ++found_.nans;
      return;
    }
    if (std::isinf(value)) {
      ++found_.infinities;
      return;
    }
    if (codes_ != nullptr && (value == static_cast<double>(codes_->min) ||
                              value == static_cast<double>(codes_->max))) {
      ++found_.saturated;
    }
    found_.min = std::min(found_.min.value_or(value), value);
    found_.max = std::max(found_.max.value_or(value), value);
    ++numbers_;
    sum_ += value;
  }

  TensorStatistics Found() const {
    TensorStatistics found = found_;
    if (numbers_ > 0) found.mean = static_cast<double>(sum_ / numbers_);
    return found;
  }

 private:
  const DataTypeInfo* codes_;  // null: no code says that it was cut off
  TensorStatistics found_;
  int64_t numbers_ = 0;
  long double sum_ = 0;  // of a wider range, so that doubles do not overflow
};

template <typename T, typename ToDouble>
void AddAll(const NumpyArray& array, const ToDouble& to_double,
            Counter* counter) {
  for (size_t i = 0; i + sizeof(T) <= array.data.size(); i += sizeof(T)) {
    T element;
    std::memcpy(&element, array.data.data() + i, sizeof(T));
    counter->Add(static_cast<double>(to_double(element)));
  }
}

template <typename T>
void AddNumbers(const NumpyArray& array, Counter* counter) {
  AddAll<T>(
      array, [](T element) { return element; }, counter);
}

void AddArray(const NumpyArray& array, Counter* counter) {
  switch (array.type) {
    case DataType::kInt8:
      return AddNumbers<int8_t>(array, counter);
    case DataType::kUint8:
    case DataType::kBool8:
      return AddNumbers<uint8_t>(array, counter);
    case DataType::kInt16:
      return AddNumbers<int16_t>(array, counter);
    case DataType::kUint16:
      return AddNumbers<uint16_t>(array, counter);
    case DataType::kInt32:
      return AddNumbers<int32_t>(array, counter);
    case DataType::kUint32:
      return AddNumbers<uint32_t>(array, counter);
    case DataType::kInt64:
      return AddNumbers<int64_t>(array, counter);
    case DataType::kUint64:
      return AddNumbers<uint64_t>(array, counter);
    case DataType::kFloat16:
      return AddAll<uint16_t>(array, HalfToFloat, counter);
    case DataType::kFloat32:
      return AddNumbers<float>(array, counter);
    case DataType::kFloat64:
      return AddNumbers<double>(array, counter);
    case DataType::kUnknown:
    case DataType::kInt4:
    case DataType::kUint4:
    case DataType::kBFloat16:
      break;  // no file has them
  }
}

}  // namespace

TensorStatistics StatisticsOf(const TensorDesc& desc, const NumpyArray& array) {
  Counter counter(desc.quantized() ? &Info(desc.type) : nullptr);
  AddArray(array, &counter);
  return counter.Found();
}

std::string FlagsOf(const TensorStatistics& statistics) {
  std::string flags;
  const auto add = [&](int64_t count, const char* name) {
    if (count == 0) return;
    if (!flags.empty()) flags += '+';
    flags += name;
  };
  add(statistics.nans, "nan");
  add(statistics.infinities, "infinity");
  add(statistics.saturated, "saturated");
  return flags;
}

}  // namespace tim::ir
