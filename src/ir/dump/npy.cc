// Puts elements in C order, and says so as NumPy does.
#include "ir/dump/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/checked_math.h"
#include "base/half.h"

namespace tim::ir {
namespace {

static_assert(std::endian::native == std::endian::little,
              "'<f4' says that the first byte is the lowest");

int64_t BytesOf(DataType type) { return Info(type).bits / 8; }

// Where the elements of a tensor are in memory, by their indices.
class Places {
 public:
  explicit Places(const TensorDesc& desc)
      : blocked_(desc.layout.blocked()),
        axis_(desc.layout.axis),
        block_(desc.layout.block) {
    if (desc.layout.strided()) {
      strides_ = desc.layout.strides;
      return;
    }
    int64_t stride = blocked_ ? block_ : 1;
    for (int i = 0; i < desc.shape.rank(); ++i) {
      strides_.push_back(stride);
      const bool cut = blocked_ && i == axis_;
      stride *= cut ? CeilDiv(desc.shape[i], block_) : desc.shape[i];
    }
  }

  int64_t Of(const std::vector<int64_t>& index) const {
    int64_t place = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      const bool cut = blocked_ && static_cast<int>(i) == axis_;
      place += strides_[i] * (cut ? index[i] / block_ : index[i]);
      if (cut) place += index[i] % block_;
    }
    return place;
  }

 private:
  bool blocked_;
  int axis_;
  int64_t block_;
  std::vector<int64_t> strides_;
};

// Calls `use` with the place of every element, in C order of the array.
template <typename Use>
void ForEachElement(const TensorDesc& desc, int64_t elements, const Use& use) {
  const Places places(desc);
  std::vector<int64_t> index(desc.shape.rank(), 0);
  for (int64_t i = 0; i < elements; ++i) {
    use(places.Of(index));
    for (int axis = 0; axis < desc.shape.rank(); ++axis) {
      if (++index[axis] < desc.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// Rows of 4-bit elements begin at whole bytes; the lower half is the first.
void UnpackNibbles(const TensorDesc& desc, std::span<const std::byte> bytes,
                   int64_t elements, std::vector<std::byte>* out) {
  const int64_t row = desc.shape.rank() > 0 ? desc.shape[0] : 1;
  for (int64_t i = 0; i < elements; ++i) {
    const int64_t place = i / row * CeilDiv(row, int64_t{2}) + i % row / 2;
    int code = std::to_integer<int>(bytes[place] >> (i % row % 2 * 4)) & 15;
    if (desc.type == DataType::kInt4 && code > 7) code -= 16;
    out->push_back(static_cast<std::byte>(code));
  }
}

void Widen(std::vector<std::byte>* data) {
  std::vector<std::byte> wide(data->size() * 2);
  for (size_t i = 0; i < data->size() / 2; ++i) {
    uint16_t bits;
    std::memcpy(&bits, data->data() + i * 2, sizeof(bits));
    const float value = BFloat16ToFloat(bits);
    std::memcpy(wide.data() + i * 4, &value, sizeof(value));
  }
  *data = std::move(wide);
}

}  // namespace

DataType NumpyType(DataType type) {
  switch (type) {
    case DataType::kInt4:
      return DataType::kInt8;
    case DataType::kUint4:
      return DataType::kUint8;
    case DataType::kBFloat16:
      return DataType::kFloat32;
    default:
      return type;
  }
}

// '|' where there is no order of bytes.
std::string NumpyTypeText(DataType type) {
  const DataTypeInfo& info = Info(type);
  const char kind = info.kind == NumberKind::kFloat    ? 'f'
                    : info.kind == NumberKind::kSigned ? 'i'
                    : info.kind == NumberKind::kBool   ? 'b'
                                                       : 'u';
  return StrCat(info.bits == 8 ? '|' : '<', kind, info.bits / 8);
}

Result<std::vector<std::byte>> DenseBytes(const TensorDesc& desc,
                                          std::span<const std::byte> bytes) {
  TIM_ASSIGN_OR_RETURN(const int64_t size, ByteSize(desc));
  if (static_cast<int64_t>(bytes.size()) < size) {
    return InvalidArgument("a tensor of ", desc.ToString(), " has ", size,
                           " bytes, and ", bytes.size(), " are given");
  }
  if (desc.layout.dense() || desc.layout.kind == LayoutKind::kAny) {
    return std::vector<std::byte>(bytes.begin(), bytes.begin() + size);
  }
  if (Info(desc.type).bits == 4) {
    return Unimplemented("4-bit elements in the layout ",
                         desc.layout.ToString());
  }
  // Strides of 0 repeat elements, so that `size` says nothing of these.
  const auto elements = desc.shape.NumElements();
  const int64_t width = BytesOf(desc.type);
  if (!elements || !CheckedMul(*elements, width)) {
    return InvalidArgument("the size of ", desc.ToString(), " overflows");
  }
  std::vector<std::byte> dense(*elements * width);
  std::byte* next = dense.data();
  ForEachElement(desc, *elements, [&](int64_t place) {
    std::memcpy(next, bytes.data() + place * width, width);
    next += width;
  });
  return dense;
}

Result<NumpyArray> NumpyArrayOf(const TensorDesc& desc,
                                std::span<const std::byte> bytes) {
  NumpyArray array{
      .type = NumpyType(desc.type),
      .shape = {desc.shape.dims().rbegin(), desc.shape.dims().rend()},
      .data = {}};
  TIM_ASSIGN_OR_RETURN(array.data, DenseBytes(desc, bytes));
  if (Info(desc.type).bits == 4) {
    const auto elements = desc.shape.NumElements();
    if (!elements) {
      return InvalidArgument("the size of ", desc.ToString(), " overflows");
    }
    std::vector<std::byte> codes;
    codes.reserve(*elements);
    UnpackNibbles(desc, array.data, *elements, &codes);
    array.data = std::move(codes);
  }
  if (desc.type == DataType::kBFloat16) Widen(&array.data);
  if (desc.type == DataType::kBool8) {
    for (std::byte& b : array.data) b = std::byte{b != std::byte{0}};
  }
  return array;
}

std::string NpyHeader(const NumpyArray& array) {
  std::string shape;
  for (const int64_t extent : array.shape) shape += StrCat(extent, ", ");
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  if (array.shape.size() == 1) shape.pop_back();  // "(4,)"
  std::string text =
      StrCat("{'descr': '", NumpyTypeText(array.type),
             "', 'fortran_order': False, 'shape': (", shape, "), }");
  constexpr size_t kBefore = 10;  // magic, version and length
  text.append(AlignUp(kBefore + text.size() + 1, size_t{64}) - kBefore -
                  text.size() - 1,
              ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += {'\x01', '\x00', static_cast<char>(text.size() & 255),
             static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace tim::ir
