// Reads the headers of .npy files.
#include "tools/timcl/npy.h"

#include <charconv>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "ir/dump/npy.h"

namespace tim::tool {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

Status Wrong(const char* what) {
  return InvalidArgument("it is no .npy file: ", what);
}

// The text behind "'key':" in the header's dictionary.
std::optional<std::string_view> ValueOf(std::string_view header,
                                        std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = StrCat(quote, key, quote);
    const size_t at = header.find(quoted);
    if (at == std::string_view::npos) continue;
    std::string_view rest = header.substr(at + quoted.size());
    const size_t colon = rest.find(':');
    const size_t begin = colon == std::string_view::npos
                             ? colon
                             : rest.find_first_not_of(' ', colon + 1);
    if (begin == std::string_view::npos) return std::nullopt;
    return rest.substr(begin);
  }
  return std::nullopt;
}

Result<std::string> ParseType(std::string_view header) {
  const auto value = ValueOf(header, "descr");
  if (!value) return Wrong("its header has no 'descr'");
  const char quote = value->front();
  if (quote != '\'' && quote != '"') {
    return InvalidArgument("its elements are records, not numbers");
  }
  const size_t end = value->find(quote, 1);
  if (end == std::string_view::npos) return Wrong("its 'descr' does not end");
  return std::string(value->substr(1, end - 1));
}

Result<std::vector<int64_t>> ParseShape(std::string_view header) {
  const auto value = ValueOf(header, "shape");
  if (!value || value->front() != '(')
    return Wrong("its header has no 'shape'");
  const size_t end = value->find(')');
  if (end == std::string_view::npos) return Wrong("its 'shape' does not end");
  std::string_view list = value->substr(1, end - 1);
  std::vector<int64_t> shape;
  while (true) {
    const size_t begin = list.find_first_not_of(", ");
    if (begin == std::string_view::npos) return shape;
    list.remove_prefix(begin);
    int64_t extent = 0;
    const auto [stop, error] =
        std::from_chars(list.data(), list.data() + list.size(), extent);
    if (error != std::errc() || extent < 0) {
      return Wrong("its 'shape' holds no number");
    }
    shape.push_back(extent);
    list.remove_prefix(static_cast<size_t>(stop - list.data()));
  }
}

// "<f4" -> 4; 0 where it says none.
int64_t BytesOf(const std::string& type) {
  int64_t bytes = 0;
  if (type.size() < 3) return 0;
  const char* const end = type.data() + type.size();
  const auto [stop, error] = std::from_chars(type.data() + 2, end, bytes);
  return error == std::errc() && stop == end && bytes > 0 && bytes <= 64 ? bytes
                                                                         : 0;
}

Result<int64_t> DataBytes(const NpyArray& array) {
  int64_t bytes = BytesOf(array.type);
  if (bytes == 0) return Wrong("its 'descr' names no type");
  for (const int64_t extent : array.shape) {
    const auto product = CheckedMul(bytes, extent);
    if (!product) return Wrong("its 'shape' is too large");
    bytes = *product;
  }
  return bytes;
}

// The length of the header that begins at the returned place.
Result<std::string_view> HeaderOf(std::string_view file) {
  if (!file.starts_with(kMagic)) return Wrong("it begins with other bytes");
  if (file.size() < 12) return Wrong("it is cut short");
  const int version = file[6];
  if (version < 1 || version > 3) {
    return Wrong("this is neither version 1, 2 nor 3 of the format");
  }
  const size_t digits = version == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = 0; i < digits; ++i) {
    length |= static_cast<size_t>(static_cast<unsigned char>(file[8 + i]))
              << (8 * i);
  }
  if (file.size() - 8 - digits < length) return Wrong("it is cut short");
  return file.substr(8 + digits, length);
}

}  // namespace

Result<NpyArray> ParseNpy(std::string_view file) {
  TIM_ASSIGN_OR_RETURN(const std::string_view header, HeaderOf(file));
  NpyArray array;
  TIM_ASSIGN_OR_RETURN(array.type, ParseType(header));
  TIM_ASSIGN_OR_RETURN(array.shape, ParseShape(header));
  const auto order = ValueOf(header, "fortran_order");
  if (!order) return Wrong("its header has no 'fortran_order'");
  if (!order->starts_with("False")) {
    return InvalidArgument(
        "its elements are in the order of Fortran; write "
        "numpy.ascontiguousarray(array)");
  }
  TIM_ASSIGN_OR_RETURN(const int64_t bytes, DataBytes(array));
  array.data = file.substr(
      static_cast<size_t>(header.data() + header.size() - file.data()));
  if (std::cmp_equal(array.data.size(), bytes)) return array;
  return Wrong(std::cmp_less(array.data.size(), bytes)
                   ? "it is cut short"
                   : "there are bytes behind its data");
}

ir::DataType TypeOfNpy(const std::string& type) {
  for (int i = 1; i < ir::kDataTypeCount; ++i) {
    const auto candidate = static_cast<ir::DataType>(i);
    if (ir::NumpyType(candidate) == candidate &&
        ir::NumpyTypeText(candidate) == type) {
      return candidate;
    }
  }
  return ir::DataType::kUnknown;
}

}  // namespace tim::tool
