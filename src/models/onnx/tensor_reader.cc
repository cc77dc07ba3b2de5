// Elements of TensorProto: raw or typed, in the file or beside it, dense or
// sparse.
#include "models/onnx/tensor_reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/checked_math.h"
#include "base/half.h"
#include "models/onnx/element_type.h"
#include "models/onnx/wire.h"

namespace tim::models::onnx {

// Elements of a TensorProto, before it is known to fit the extents.
struct TensorReader::Stored {
  bool has_raw = false;
  std::string_view raw;
  std::shared_ptr<const void> owner;  ///< Keeps `raw`.
  bool has_external = false;
  std::map<std::string, std::string> external;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> ints;

  /// Makes raw bytes of the typed fields.
  Status TakeTyped(ElementType type);
  template <typename T>
  void Take(std::vector<T> values) {
    auto kept = std::make_shared<const std::vector<T>>(std::move(values));
    raw = std::string_view(reinterpret_cast<const char*>(kept->data()),
                           kept->size() * sizeof(T));
    owner = kept;
  }
};

namespace {

// Dense tensors that sparse ones may become.
constexpr int64_t kMostDenseBytes = int64_t{1} << 28;

// Bytes of `count` elements in the file; 0 for types that are not read.
int64_t StoredBytes(ElementType type, int64_t count) {
  switch (type) {
    case ElementType::kInt8:
    case ElementType::kUint8:
    case ElementType::kBool:
      return count;
    case ElementType::kInt16:
    case ElementType::kUint16:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return 2 * count;
    case ElementType::kFloat:
    case ElementType::kInt32:
    case ElementType::kUint32:
      return 4 * count;
    case ElementType::kInt64:
    case ElementType::kDouble:
      return 8 * count;
    case ElementType::kInt4:
    case ElementType::kUint4:
      return (count + 1) / 2;
    default:
      return 0;
  }
}

Result<int64_t> CountOf(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t extent : dims) {
    if (extent < 0)
      return InvalidArgument("its extent ", extent, " is less than 0");
    const auto product = CheckedMul(count, extent);
    if (!product || *product > std::numeric_limits<int64_t>::max() / 8) {
      return InvalidArgument("its extents [", StrJoin(dims, ","),
                             "] are too large");
    }
    count = *product;
  }
  return count;
}

// Memory for `bytes`, which the pointer owns.
std::shared_ptr<uint8_t> NewBytes(size_t bytes) {
  auto words = std::make_shared<std::vector<uint64_t>>(bytes / 8 + 1);
  return {words, reinterpret_cast<uint8_t*>(words->data())};
}

template <typename T>
Status Narrow(const std::vector<int64_t>& values, void* out) {
  auto* to = static_cast<T*>(out);
  for (const int64_t value : values) {
    if (value < std::numeric_limits<T>::min() ||
        value > std::numeric_limits<T>::max()) {
      return InvalidArgument("its element ", value, " does not fit the type");
    }
    *to++ = static_cast<T>(value);
  }
  return OkStatus();
}

// Elements of a typed integer field as the bytes of raw data.
Status PackInts(ElementType type, const std::vector<int64_t>& values,
                void* out) {
  switch (type) {
    case ElementType::kInt8:
      return Narrow<int8_t>(values, out);
    case ElementType::kUint8:
    case ElementType::kBool:
    case ElementType::kInt4:
    case ElementType::kUint4:
      return Narrow<uint8_t>(values, out);
    case ElementType::kInt16:
      return Narrow<int16_t>(values, out);
    case ElementType::kUint16:
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
      return Narrow<uint16_t>(values, out);
    case ElementType::kInt32:
      return Narrow<int32_t>(values, out);
    case ElementType::kUint32:
      return Narrow<uint32_t>(values, out);
    default:
      return Narrow<int64_t>(values, out);
  }
}

bool IsAligned(const void* data, vx::DataType type) {
  const auto bytes = static_cast<uintptr_t>(ByteSizeOf(type, {}));
  return bytes <= 1 || reinterpret_cast<uintptr_t>(data) % bytes == 0;
}

// Nibbles without gaps as rows of whole bytes.
void PackRows(const uint8_t* from, int64_t rows, int64_t columns, uint8_t* to) {
  const int64_t row_bytes = (columns + 1) / 2;
  for (int64_t i = 0; i < rows * columns; ++i) {
    const int nibble = (from[i / 2] >> (i % 2 * 4)) & 15;
    const int64_t column = i % columns;
    to[i / columns * row_bytes + column / 2] |=
        static_cast<uint8_t>(nibble << (column % 2 * 4));
  }
}

Result<int64_t> NumberOf(const std::map<std::string, std::string>& entries,
                         const std::string& key, int64_t otherwise) {
  const auto found = entries.find(key);
  if (found == entries.end()) return otherwise;
  const std::string& text = found->second;
  int64_t number = 0;
  const auto end =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() ||
      number < 0) {
    return InvalidArgument("the ", key, " of its external data, '", text,
                           "', is no number of bytes");
  }
  return number;
}

Status ReadEntry(std::string_view bytes,
                 std::map<std::string, std::string>* entries) {
  std::string key;
  std::string value;
  WireReader reader(bytes, "StringStringEntryProto");
  while (reader.Next()) {
    if (reader.field().number == 1) key = reader.field().bytes;
    if (reader.field().number == 2) value = reader.field().bytes;
  }
  (*entries)[key] = value;
  return reader.status();
}

// Elements of FLOAT64 that are kept in 64 bits too, since shapes may be
// computed of them.
constexpr size_t kMostDoubles = 65'536;

// Converts what graphs have no type for; the count is that of `dims`.
Result<HostArray> Widen(ElementType type, const uint8_t* raw, int64_t count,
                        const Dims& dims) {
  std::vector<float> values(static_cast<size_t>(count));
  std::vector<double> doubles;
  const bool keeps =
      type == ElementType::kDouble && values.size() <= kMostDoubles;
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == ElementType::kDouble) {
      double value;
      std::memcpy(&value, raw + i * sizeof(value), sizeof(value));
      values[i] = static_cast<float>(value);
      if (keeps) doubles.push_back(value);
    } else {
      uint16_t bits;
      std::memcpy(&bits, raw + i * sizeof(bits), sizeof(bits));
      values[i] = BFloat16ToFloat(bits);
    }
  }
  HostArray array = ArrayOf(values, dims);
  if (keeps) {
    array.doubles =
        std::make_shared<const std::vector<double>>(std::move(doubles));
  }
  return array;
}

}  // namespace

Status TensorReader::Stored::TakeTyped(ElementType type) {
  if (type == ElementType::kFloat) {
    Take(std::move(floats));
    return OkStatus();
  }
  if (type == ElementType::kDouble) {
    Take(std::move(doubles));
    return OkStatus();
  }
  const size_t bytes = ints.size() * static_cast<size_t>(StoredBytes(type, 1));
  auto packed = NewBytes(bytes);
  TIM_RETURN_IF_ERROR(PackInts(type, ints, packed.get()));
  raw = std::string_view(reinterpret_cast<const char*>(packed.get()), bytes);
  owner = packed;
  return OkStatus();
}

Result<std::shared_ptr<const MappedFile>> TensorReader::Open(
    const std::string& location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  const std::filesystem::path path(location);
  bool leaves = path.is_absolute() || path.empty();
  for (const auto& part : path) leaves = leaves || part == "..";
  if (leaves) {
    return InvalidArgument("its external data '", location,
                           "' are not inside of the folder of the model");
  }
  if (folder_.empty()) {
    return InvalidArgument("its elements are in the file '", location,
                           "'; give OnnxOptions::external_data_folder");
  }
  auto mapped = MapFile((std::filesystem::path(folder_) / path).string());
  if (!mapped.ok()) return mapped.status().WithContext("its external data");
  files_[location] = *mapped;
  if (budget_ != nullptr) {
    budget_->AddFile(static_cast<int64_t>((*mapped)->bytes.size()));
  }
  return mapped;
}

void TensorReader::AddFileOf(const TensorMessage& tensor) {
  std::map<std::string, std::string> entries;
  bool has_external = false;
  WireReader reader(tensor.body, "TensorProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    if (field.number == 13 && !ReadEntry(field.bytes, &entries).ok()) return;
    if (field.number == 14) has_external = field.AsInt() == 1;
  }
  if (has_external && reader.status().ok()) {
    static_cast<void>(Open(entries["location"]));
  }
}

Status TensorReader::ReadExternal(int64_t bytes, Stored* stored) {
  const std::string location = stored->external["location"];
  TIM_ASSIGN_OR_RETURN(const auto file, Open(location));
  const auto size = static_cast<int64_t>(file->bytes.size());
  TIM_ASSIGN_OR_RETURN(const int64_t offset,
                       NumberOf(stored->external, "offset", 0));
  TIM_ASSIGN_OR_RETURN(const int64_t length,
                       NumberOf(stored->external, "length", bytes));
  if (length != bytes) {
    return InvalidArgument("its external data have ", length,
                           " bytes, its extents need ", bytes);
  }
  if (offset > size || length > size - offset) {
    return InvalidArgument("its external data, ", length, " bytes from byte ",
                           offset, " on, are not in the file '", location,
                           "', which has ", size, " bytes");
  }
  stored->raw = std::string_view(
      reinterpret_cast<const char*>(file->bytes.data()) + offset,
      static_cast<size_t>(length));
  stored->owner = file;
  stored->has_raw = true;
  return OkStatus();
}

Result<TensorReader::Stored> TensorReader::ReadStored(
    const TensorMessage& tensor) {
  Stored stored;
  stored.owner = owner_;
  WireReader reader(tensor.body, "TensorProto");
  while (reader.Next()) {
    const Field& field = reader.field();
    switch (field.number) {
      case 3:
        return Unimplemented("it is stored in segments");
      case 4:
        TIM_RETURN_IF_ERROR(AppendFloats(field, &stored.floats));
        break;
      case 5:
      case 7:
      case 11:
        TIM_RETURN_IF_ERROR(AppendInts(field, &stored.ints));
        break;
      case 9:
        stored.raw = field.bytes;
        stored.has_raw = true;
        break;
      case 10:
        TIM_RETURN_IF_ERROR(AppendDoubles(field, &stored.doubles));
        break;
      case 13:
        TIM_RETURN_IF_ERROR(ReadEntry(field.bytes, &stored.external));
        break;
      case 14:
        stored.has_external = field.AsInt() == 1;
        break;
      default:
        break;
    }
  }
  TIM_RETURN_IF_ERROR(reader.status());
  return stored;
}

Result<HostArray> TensorReader::Decode(const TensorMessage& tensor) {
  const auto type = static_cast<ElementType>(tensor.data_type);
  const bool widened =
      type == ElementType::kDouble || type == ElementType::kBfloat16;
  vx::DataType graph_type = vx::DataType::FLOAT32;
  if (!widened) {
    TIM_ASSIGN_OR_RETURN(graph_type, DataTypeOf(tensor.data_type));
  }
  TIM_ASSIGN_OR_RETURN(const int64_t count, CountOf(tensor.dims));
  const int64_t bytes = StoredBytes(type, count);
  TIM_ASSIGN_OR_RETURN(Stored stored, ReadStored(tensor));
  if (stored.has_external) {
    TIM_RETURN_IF_ERROR(ReadExternal(bytes, &stored));
  }
  if (!stored.has_raw) TIM_RETURN_IF_ERROR(stored.TakeTyped(type));
  if (stored.raw.size() != static_cast<size_t>(bytes)) {
    return InvalidArgument("it has ", stored.raw.size(),
                           " bytes of elements, its extents [",
                           StrJoin(tensor.dims, ","), "] need ", bytes);
  }
  const auto* raw = reinterpret_cast<const uint8_t*>(stored.raw.data());
  if (widened) {
    warnings_.push_back(StrCat("tensor '", std::string(tensor.name),
                               "': ", TypeName(tensor.data_type),
                               " is taken as float32"));
    return Widen(type, raw, count, tensor.dims);
  }
  HostArray array = {graph_type, tensor.dims, static_cast<size_t>(bytes), {}};
  const int64_t columns = tensor.dims.empty() ? 1 : tensor.dims.back();
  const bool is_nibbles =
      type == ElementType::kInt4 || type == ElementType::kUint4;
  if (is_nibbles && columns % 2 != 0 && count > 0) {
    array.bytes = static_cast<size_t>(count / columns * ((columns + 1) / 2));
    auto rows = NewBytes(array.bytes);
    PackRows(raw, count / columns, columns, rows.get());
    array.data = rows;
    return array;
  }
  const bool is_clean =
      type != ElementType::kBool ||
      std::all_of(raw, raw + bytes, [](uint8_t flag) { return flag <= 1; });
  if (is_clean && stored.owner != nullptr && raw != nullptr &&
      IsAligned(raw, graph_type)) {
    array.data = std::shared_ptr<const void>(stored.owner, raw);
    return array;
  }
  auto copy = NewBytes(array.bytes);
  if (bytes > 0) std::memcpy(copy.get(), raw, array.bytes);
  for (int64_t i = 0; !is_clean && i < bytes; ++i) {
    copy.get()[i] = copy.get()[i] != 0;
  }
  array.data = copy;
  return array;
}

Result<HostArray> TensorReader::Read(const TensorMessage& tensor) {
  auto array = Decode(tensor);
  if (array.ok()) return array;
  return array.status().WithContext(
      StrCat("tensor '", std::string(tensor.name), "'"));
}

Result<HostArray> TensorReader::Read(const SparseMessage& sparse) {
  TIM_ASSIGN_OR_RETURN(const HostArray values, Read(sparse.values));
  TIM_ASSIGN_OR_RETURN(const HostArray indices, Read(sparse.indices));
  const std::string context =
      StrCat("sparse tensor '", std::string(sparse.values.name), "'");
  const auto count = CountOf(sparse.dims);
  if (!count.ok()) return count.status().WithContext(context);
  const int64_t bytes = ByteSizeOf(values.type, sparse.dims);
  const int64_t unit = ByteSizeOf(values.type, {});
  const int64_t stored = values.ElementCount();
  const auto rank = static_cast<int64_t>(sparse.dims.size());
  const bool is_linear = indices.dims.size() == 1;
  const bool is_known =
      values.type != vx::DataType::INT4 && values.type != vx::DataType::UINT4;
  const int64_t wanted = is_linear ? stored : stored * rank;
  if (bytes < 0 || bytes > kMostDenseBytes || !is_known ||
      indices.type != vx::DataType::INT64 || indices.dims.size() > 2 ||
      indices.ElementCount() != wanted) {
    return InvalidArgument(context, ": its extents, values and indices do not ",
                           "fit each other, or it is too large");
  }
  TIM_ASSIGN_OR_RETURN(const std::vector<int64_t> places, Integers(indices));
  auto dense = NewBytes(static_cast<size_t>(bytes));
  for (int64_t i = 0; i < stored; ++i) {
    int64_t place = is_linear ? places[i] : 0;
    bool inside = place >= 0 && place < *count;
    for (int64_t axis = 0; !is_linear && axis < rank; ++axis) {
      const int64_t index = places[i * rank + axis];
      inside = inside && index >= 0 && index < sparse.dims[axis];
      if (inside) place = place * sparse.dims[axis] + index;
    }
    if (!inside || *count == 0) {
      return InvalidArgument(context, ": the place of its value ", i,
                             " is outside of its extents");
    }
    std::memcpy(dense.get() + place * unit,
                static_cast<const uint8_t*>(values.data.get()) + i * unit,
                static_cast<size_t>(unit));
  }
  return HostArray{values.type, sparse.dims, static_cast<size_t>(bytes), dense};
}

}  // namespace tim::models::onnx
