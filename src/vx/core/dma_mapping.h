// A DMA buffer, memory that several devices share, in this process.
#ifndef TIM_VX_CORE_DMA_MAPPING_H_
#define TIM_VX_CORE_DMA_MAPPING_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "base/status.h"

namespace tim::vx {

/// Whatever is behind the descriptor and can be mapped: a DMA buffer, or a file
/// such as memfd_create() makes.
class DmaMapping {
 public:
  /// What the host is going to do, or has done.
  enum class Access { kRead, kWrite, kReadWrite };

  /// Maps the first `bytes` bytes.  The caller may close `fd` afterwards.
  /// Buffers that may only be read are mapped for reading.  kInvalidArgument
  /// where `fd` is not open, cannot be mapped or has fewer bytes.
  static Result<std::unique_ptr<DmaMapping>> Create(int64_t fd, int64_t bytes);

  DmaMapping(const DmaMapping&) = delete;
  DmaMapping& operator=(const DmaMapping&) = delete;
  ~DmaMapping();

  void* address() const { return address_; }
  /// Its own, open as long as it lives.
  int fd() const { return fd_; }
  /// The same for all mappings of one buffer.
  std::pair<uint64_t, uint64_t> Identity() const { return {device_, inode_}; }

  /// The host may access the memory, and sees what other devices have written.
  /// kFailedPrecondition where that would be a crash: the file has become too
  /// short, or it may only be read.
  Status Begin(Access access);
  /// Other devices see what the host has written since Begin().
  Status End(Access access);

 private:
  explicit DmaMapping(int fd) : fd_(fd) {}
  Status Map(int64_t bytes);
  Result<int64_t> FileBytes() const;
  Status Synchronize(uint64_t flags);

  const int fd_;
  void* address_ = nullptr;
  int64_t bytes_ = 0;
  bool writable_ = true;
  bool is_file_ = false;  // has a size that may change
  bool is_dma_buffer_ = true;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace tim::vx

#endif  // TIM_VX_CORE_DMA_MAPPING_H_
