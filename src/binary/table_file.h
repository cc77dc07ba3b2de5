// A table file as it lies in memory: header, FlatBuffer, data.
#ifndef TIM_BINARY_TABLE_FILE_H_
#define TIM_BINARY_TABLE_FILE_H_

#include <flatbuffers/flatbuffers.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "binary/types_generated.h"
#include "ir/constant.h"

namespace tim::binary {

static_assert(std::endian::native == std::endian::little,
              "headers and data are written as they are in memory");

struct TableFileHeader {
  uint64_t table_bytes = 0;  ///< Of the FlatBuffer behind the header.
  /// From the file's first byte, a multiple of ir::kSharedAlignment; the data
  /// ends the file.
  uint64_t data_offset = 0;
  uint64_t data_bytes = 0;
  uint64_t reserved = 0;  ///< 0; the FlatBuffer begins at a multiple of 32.
};
static_assert(sizeof(TableFileHeader) == 32);

/// Nested graphs, the outermost included.
inline constexpr int kMaxGraphDepth = 32;

/// What is read of a file takes at most so many times the bytes of its tables,
/// and, where it is not used in place, its data once.
inline constexpr int64_t kMaxGrowth = 64;

/// A file whose places in memory have been checked, nothing else.
class TableFile {
 public:
  /// `keeper` keeps the memory, in which data is used in place; null: data is
  /// copied.
  static Result<TableFile> Open(std::span<const std::byte> file,
                                std::shared_ptr<const void> keeper);
  TableFile(TableFile&&) = default;
  TableFile& operator=(TableFile&&) = default;

  /// The root after FlatBuffers' verifier has passed it: every offset lies in
  /// the file, and following all of them takes linear time.
  template <typename Root>
  Result<const Root*> Verified() const {
    flatbuffers::Verifier verifier(
        tables_.data(), tables_.size(), 3 * kMaxGraphDepth + 16,
        static_cast<flatbuffers::uoffset_t>(tables_.size() / 8 + 1));
    if (!verifier.VerifyBuffer<Root>(nullptr)) {
      return InvalidArgument("its tables are damaged");
    }
    return flatbuffers::GetRoot<Root>(tables_.data());
  }

  int64_t table_bytes() const { return static_cast<int64_t>(tables_.size()); }
  /// The pieces of data; fails unless they lie one behind the other, aligned.
  Result<std::vector<std::span<const std::byte>>> Pieces(
      const flatbuffers::Vector<const fbs::Extent*>* extents) const;
  std::shared_ptr<const ir::ConstantData> Constant(
      std::span<const std::byte> piece) const;
  const std::shared_ptr<const void>& keeper() const { return keeper_; }

 private:
  TableFile() = default;

  std::span<const uint8_t> tables_;
  std::span<const std::byte> data_;
  std::shared_ptr<const void> keeper_;
  std::vector<uint8_t> copy_;  // of tables that are not aligned
};

}  // namespace tim::binary

#endif  // TIM_BINARY_TABLE_FILE_H_
