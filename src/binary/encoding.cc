#include "binary/encoding.h"

#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "binary/table_file.h"

namespace tim::binary {

int DataPieces::Share(const std::shared_ptr<const ir::ConstantData>& constant) {
  const auto [entry, added] =
      shared_.try_emplace({constant->hash, constant->bytes.size()}, 0);
  if (added) {
    entry->second =
        Add({constant->bytes.data(), constant->bytes.size()}, constant);
  }
  return entry->second;
}

int DataPieces::Add(std::span<const std::byte> bytes,
                    std::shared_ptr<const void> keeper, int64_t alignment) {
  alignment_ = std::max(alignment_, alignment);
  const int64_t offset = AlignUp(bytes_, alignment);
  bytes_ = offset + static_cast<int64_t>(bytes.size());
  pieces_.push_back({bytes, std::move(keeper), offset});
  return static_cast<int>(pieces_.size()) - 1;
}

Encoding::Encoding(std::span<const uint8_t> tables, DataPieces data)
    : tables_(tables.begin(), tables.end()),
      data_(std::move(data)),
      data_offset_(AlignUp(
          static_cast<int64_t>(sizeof(TableFileHeader) + tables_.size()),
          data_.alignment())) {}

void Encoding::WriteTo(std::byte* out) const {
  const TableFileHeader header = {
      .table_bytes = tables_.size(),
      .data_offset = static_cast<uint64_t>(data_offset_),
      .data_bytes = static_cast<uint64_t>(data_.bytes())};
  std::memcpy(out, &header, sizeof(header));
  std::memcpy(out + sizeof(header), tables_.data(), tables_.size());
  int64_t written = static_cast<int64_t>(sizeof(header) + tables_.size());
  for (const DataPieces::Piece& piece : data_.pieces()) {
    const int64_t begin = data_offset_ + piece.offset;
    std::fill(out + written, out + begin, std::byte{0});
    if (!piece.bytes.empty()) {
      std::memcpy(out + begin, piece.bytes.data(), piece.bytes.size());
    }
    written = begin + static_cast<int64_t>(piece.bytes.size());
  }
  std::fill(out + written, out + bytes(), std::byte{0});
}

std::vector<std::byte> Encoding::ToBytes() const {
  std::vector<std::byte> out(static_cast<size_t>(bytes()));
  WriteTo(out.data());
  return out;
}

}  // namespace tim::binary
