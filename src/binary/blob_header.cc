#include "binary/blob_header.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "base/hash.h"
#include "ir/constant.h"

namespace tim::binary {
namespace {

constexpr char kHowTo[] = "; make it anew with Graph::CompileToBinary()";

uint64_t HeaderHash(const BlobHeader& header) {
  return HashBytes(&header, offsetof(BlobHeader, header_hash)).low;
}

std::array<uint64_t, 2> BodyHash(std::span<const std::byte> body) {
  const Hash128 hash = HashBytes(body.data(), body.size());
  return {hash.low, hash.high};
}

// Byte by byte: what is no binary graph may be shorter than one's header.
Status CheckMagic(const std::byte* blob, size_t size) {
  constexpr std::array<char, 4> kVeriSilicon = {'V', 'P', 'M', 'N'};
  const auto starts_with = [&](const auto& magic) {
    for (size_t i = 0; i < magic.size(); ++i) {
      if (i == size || static_cast<char>(blob[i]) != magic[i]) return false;
    }
    return true;
  };
  if (starts_with(kMagic)) return OkStatus();
  if (starts_with(kVeriSilicon)) {
    return InvalidArgument(
        "it is a binary graph of VeriSilicon's drivers, which only they can "
        "run",
        kHowTo);
  }
  return InvalidArgument(
      "it is no binary graph of this library, whose first bytes are "
      "'TIMCLBIN'",
      kHowTo);
}

bool Lies(const BlobSection& section, uint64_t begin, uint64_t end) {
  return section.offset % ir::kSharedAlignment == 0 &&
         section.offset >= begin && section.offset <= end &&
         section.bytes <= end - section.offset;
}

}  // namespace

void Seal(BlobHeader* header, std::span<const std::byte> body) {
  header->header_bytes = sizeof(BlobHeader);
  header->body_hash = BodyHash(body);
  header->header_hash = HeaderHash(*header);
}

Result<BlobHeader> ReadBlobHeader(const std::byte* blob, size_t size,
                                  Checksum checksum) {
  if (blob == nullptr || size == 0) {
    return InvalidArgument("there is none: its address is null or its size 0");
  }
  TIM_RETURN_IF_ERROR(CheckMagic(blob, size));
  BlobHeader header;
  constexpr size_t kVersionEnd = offsetof(BlobHeader, header_bytes);
  const size_t readable = std::min(size, sizeof(header));
  if (readable >= kVersionEnd) {
    std::memcpy(&header.version, blob + offsetof(BlobHeader, version),
                sizeof(header.version));
  }
  if (header.version != kFormatVersion) {
    return InvalidArgument("it has format version ", header.version,
                           ", this library reads version ", kFormatVersion,
                           kHowTo);
  }
  if (readable < sizeof(header)) {
    return InvalidArgument("it is cut short: it has ", size, " bytes", kHowTo);
  }
  std::memcpy(&header, blob, sizeof(header));
  const bool sound = checksum == Checksum::kIgnored ||
                     header.header_hash == HeaderHash(header);
  if (!sound || header.header_bytes != sizeof(header)) {
    return InvalidArgument("its header is damaged", kHowTo);
  }
  return header;
}

Status CheckBlob(const BlobHeader& header, std::span<const std::byte> blob,
                 Checksum checksum) {
  if (blob.size() != header.total_bytes) {
    return InvalidArgument("it is cut short: it has ", blob.size(), " of ",
                           header.total_bytes, " bytes", kHowTo);
  }
  const BlobSection* const sections[] = {&header.contents, &header.graph,
                                         &header.plan, &header.programs,
                                         &header.record};
  for (size_t i = 0; i < std::size(sections); ++i) {
    const BlobSection& section = *sections[i];
    const bool optional = i >= 2;
    if (optional && section.bytes == 0) continue;
    if (Lies(section, sizeof(header), blob.size())) continue;
    return InvalidArgument("its header is wrong: ", section.bytes, " bytes at ",
                           section.offset, " of ", blob.size());
  }
  if (checksum == Checksum::kChecked &&
      BodyHash(blob.subspan(sizeof(header))) != header.body_hash) {
    return InvalidArgument("it is damaged: its checksum is wrong", kHowTo);
  }
  return OkStatus();
}

}  // namespace tim::binary
