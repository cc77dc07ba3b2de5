#include "vx/core/dma_mapping.h"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace tim::vx {
namespace {

std::string ErrorName(int code) {
  return std::generic_category().message(code);
}

uint64_t FlagsOf(DmaMapping::Access access) {
  switch (access) {
    case DmaMapping::Access::kRead:
      return DMA_BUF_SYNC_READ;
    case DmaMapping::Access::kWrite:
      return DMA_BUF_SYNC_WRITE;
    case DmaMapping::Access::kReadWrite:
      break;
  }
  return DMA_BUF_SYNC_RW;
}

}  // namespace

Result<std::unique_ptr<DmaMapping>> DmaMapping::Create(int64_t fd,
                                                       int64_t bytes) {
  const bool possible = fd >= 0 && std::in_range<int>(fd);
  const int own =
      possible ? fcntl(static_cast<int>(fd), F_DUPFD_CLOEXEC, 0) : -1;
  if (own < 0) {
    return InvalidArgument("the DMA buffer's file descriptor ", fd, ": ",
                           ErrorName(possible ? errno : EBADF));
  }
  std::unique_ptr<DmaMapping> mapping(new DmaMapping(own));
  const Status status = mapping->Map(bytes);
  if (!status.ok()) {
    return status.WithContext(StrCat("the DMA buffer of file descriptor ", fd));
  }
  return mapping;
}

Status DmaMapping::Map(int64_t bytes) {
  struct stat facts {};
  if (fstat(fd_, &facts) != 0) return InvalidArgument(ErrorName(errno));
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  is_file_ = S_ISREG(facts.st_mode);
  TIM_ASSIGN_OR_RETURN(const int64_t found, FileBytes());
  if (found < bytes) {
    return InvalidArgument("it has ", found, " bytes, the tensor needs ",
                           bytes);
  }
  const auto size = static_cast<size_t>(bytes);
  void* address =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (address == MAP_FAILED && (errno == EACCES || errno == EPERM)) {
    writable_ = false;
    address = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd_, 0);
  }
  if (address == MAP_FAILED) {
    return InvalidArgument("it cannot be mapped: ", ErrorName(errno));
  }
  address_ = address;
  bytes_ = bytes;
  return OkStatus();
}

DmaMapping::~DmaMapping() {
  if (address_ != nullptr) munmap(address_, static_cast<size_t>(bytes_));
  close(fd_);
}

// DMA buffers tell their size by seeking, which does not move them.
Result<int64_t> DmaMapping::FileBytes() const {
  if (is_file_) {
    struct stat facts {};
    if (fstat(fd_, &facts) != 0) return InvalidArgument(ErrorName(errno));
    return static_cast<int64_t>(facts.st_size);
  }
  const off_t end = lseek(fd_, 0, SEEK_END);
  if (end < 0) return InvalidArgument("it has no size: ", ErrorName(errno));
  lseek(fd_, 0, SEEK_SET);
  return static_cast<int64_t>(end);
}

// Other files need no synchronization, and do not know the request.
Status DmaMapping::Synchronize(uint64_t flags) {
  dma_buf_sync request = {.flags = flags};
  while (is_dma_buffer_ && ioctl(fd_, DMA_BUF_IOCTL_SYNC, &request) != 0) {
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno == ENOTTY || errno == EINVAL || errno == ENOSYS) {
      is_dma_buffer_ = false;
    } else {
      return FailedPrecondition("a DMA buffer: ", ErrorName(errno));
    }
  }
  return OkStatus();
}

Status DmaMapping::Begin(Access access) {
  if (is_file_) {
    TIM_ASSIGN_OR_RETURN(const int64_t found, FileBytes());
    if (found < bytes_) {
      return FailedPrecondition("the file behind its memory has been cut to ",
                                found, " bytes, ", bytes_, " are needed");
    }
  }
  if (access != Access::kRead && !writable_) {
    return FailedPrecondition("the DMA buffer may only be read");
  }
  return Synchronize(DMA_BUF_SYNC_START | FlagsOf(access));
}

Status DmaMapping::End(Access access) {
  return Synchronize(DMA_BUF_SYNC_END | FlagsOf(access));
}

}  // namespace tim::vx
