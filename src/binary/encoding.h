// A table file in the making: a FlatBuffer, and data that its tables refer to
// by index (table_file.h has the form).
#ifndef TIM_BINARY_ENCODING_H_
#define TIM_BINARY_ENCODING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "ir/constant.h"

namespace tim::binary {

/// Data of a file, in the order in which it was added.
class DataPieces {
 public:
  struct Piece {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> keeper;
    int64_t offset = 0;  ///< In the file's data.
  };

  /// The index of the piece; that of an earlier one with the same bytes.
  int Share(const std::shared_ptr<const ir::ConstantData>& constant);
  /// A piece of its own, which `keeper` keeps until the file is written, at a
  /// multiple of `alignment`: a power of two, ir::kSharedAlignment or more.
  int Add(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper,
          int64_t alignment = ir::kSharedAlignment);

  const std::vector<Piece>& pieces() const { return pieces_; }
  int64_t bytes() const { return bytes_; }
  /// The greatest that was asked for.
  int64_t alignment() const { return alignment_; }

 private:
  std::vector<Piece> pieces_;
  std::map<std::pair<Hash128, size_t>, int> shared_;
  int64_t bytes_ = 0;
  int64_t alignment_ = ir::kSharedAlignment;
};

/// Plain data, but for the memory of its pieces.
class Encoding {
 public:
  /// \param tables a finished FlatBuffer.
  Encoding(std::span<const uint8_t> tables, DataPieces data);

  /// Of the file.
  int64_t bytes() const { return data_offset_ + data_.bytes(); }
  /// Where the file must begin for its data to be aligned.
  int64_t alignment() const { return data_.alignment(); }
  /// Writes the file, which has bytes() bytes, gaps included.
  void WriteTo(std::byte* out) const;
  std::vector<std::byte> ToBytes() const;

 private:
  std::vector<uint8_t> tables_;
  DataPieces data_;
  int64_t data_offset_ = 0;
};

}  // namespace tim::binary

#endif  // TIM_BINARY_ENCODING_H_
