// The first bytes of a binary graph.
#ifndef TIM_BINARY_BLOB_HEADER_H_
#define TIM_BINARY_BLOB_HEADER_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace tim::binary {

inline constexpr std::array<char, 8> kMagic = {'T', 'I', 'M', 'C',
                                               'L', 'B', 'I', 'N'};
inline constexpr uint32_t kFormatVersion = 1;

/// A section of the file, from its first byte.
struct BlobSection {
  uint64_t offset = 0;
  uint64_t bytes = 0;  ///< 0: the section is not there.
};

/// Magic and version stay where they are in every version of the format.
struct BlobHeader {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kFormatVersion;
  uint32_t header_bytes = 0;  ///< sizeof(BlobHeader)
  uint64_t total_bytes = 0;
  BlobSection contents;                    ///< blob.fbs
  BlobSection graph;                       ///< graph.fbs
  BlobSection plan;                        ///< plan.fbs
  BlobSection programs;                    ///< programs.fbs
  std::array<uint64_t, 2> body_hash = {};  ///< Of all that follows the header.
  BlobSection record;                      ///< record.fbs
  uint64_t header_hash = 0;                ///< Of the header up to here.
};
static_assert(sizeof(BlobHeader) == 128);
static_assert(std::endian::native == std::endian::little,
              "headers are written as they are in memory");

/// Sets both hashes; `body` is what follows the header.
void Seal(BlobHeader* header, std::span<const std::byte> body);

/// Whether hashes are to be right.  Fuzzers, which cannot make them so, reach
/// what is behind them without.
enum class Checksum { kChecked, kIgnored };

/// The header at `blob`, of which as many bytes are read as are like one of
/// this format, at most `size`.  A failure says what is there instead.
Result<BlobHeader> ReadBlobHeader(const std::byte* blob, size_t size,
                                  Checksum checksum);

/// The file is as long as its header says, its sections lie in it, and its
/// bytes are those that were written.
Status CheckBlob(const BlobHeader& header, std::span<const std::byte> blob,
                 Checksum checksum);

}  // namespace tim::binary

#endif  // TIM_BINARY_BLOB_HEADER_H_
