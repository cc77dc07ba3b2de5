#include "binary/table_file.h"

#include <cstring>
#include <utility>

#include "base/aligned_memory.h"
#include "binary/read_budget.h"

namespace tim::binary {
namespace {

constexpr uint64_t kAlignment = ir::kSharedAlignment;
// Offsets in a FlatBuffer have 32 bits, one of them a sign.
constexpr uint64_t kMaxTableBytes = (uint64_t{1} << 31) - 1;

Status CheckHeader(const TableFileHeader& header, uint64_t size) {
  const uint64_t room = size - sizeof(header);
  if (header.table_bytes > room || header.table_bytes > kMaxTableBytes) {
    return InvalidArgument(header.table_bytes, " bytes of tables in a file of ",
                           size, " bytes");
  }
  if (header.data_offset < sizeof(header) + header.table_bytes ||
      header.data_offset > size || header.data_offset % kAlignment != 0 ||
      header.data_bytes != size - header.data_offset) {
    return InvalidArgument(header.data_bytes, " bytes of data at ",
                           header.data_offset, ", behind ", header.table_bytes,
                           " bytes of tables, in a file of ", size, " bytes");
  }
  return OkStatus();
}

}  // namespace

Result<TableFile> TableFile::Open(std::span<const std::byte> file,
                                  std::shared_ptr<const void> keeper) {
  TableFileHeader header;
  if (file.size() < sizeof(header)) {
    return InvalidArgument("it has ", file.size(), " bytes");
  }
  std::memcpy(&header, file.data(), sizeof(header));
  TIM_RETURN_IF_ERROR(CheckHeader(header, file.size()));
  TableFile opened;
  const auto* tables =
      reinterpret_cast<const uint8_t*>(file.data()) + sizeof(header);
  opened.tables_ = {tables, static_cast<size_t>(header.table_bytes)};
  if (!IsAligned(tables, alignof(uint64_t))) {
    opened.copy_.assign(opened.tables_.begin(), opened.tables_.end());
    opened.tables_ = opened.copy_;
  }
  opened.data_ = file.subspan(static_cast<size_t>(header.data_offset));
  opened.keeper_ = std::move(keeper);
  return opened;
}

Result<std::vector<std::span<const std::byte>>> TableFile::Pieces(
    const flatbuffers::Vector<const fbs::Extent*>* extents) const {
  TIM_RETURN_IF_ERROR(CheckAligned(extents));
  std::vector<std::span<const std::byte>> pieces;
  uint64_t end = 0;
  for (size_t i = 0; extents != nullptr && i < extents->size(); ++i) {
    const fbs::Extent& extent = *extents->Get(static_cast<uint32_t>(i));
    if (extent.offset() < end || extent.offset() % kAlignment != 0 ||
        extent.offset() > data_.size() ||
        extent.bytes() > data_.size() - extent.offset()) {
      return InvalidArgument("data ", i, " (", extent.bytes(), " bytes at ",
                             extent.offset(),
                             ") lies outside of its file or in other data");
    }
    end = extent.offset() + extent.bytes();
    pieces.push_back(data_.subspan(static_cast<size_t>(extent.offset()),
                                   static_cast<size_t>(extent.bytes())));
  }
  return pieces;
}

std::shared_ptr<const ir::ConstantData> TableFile::Constant(
    std::span<const std::byte> piece) const {
  return keeper_ ? ir::ShareConstant(piece, keeper_) : ir::MakeConstant(piece);
}

}  // namespace tim::binary
