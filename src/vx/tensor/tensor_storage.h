// Where the bytes of a tensor are, by role.  TRANSIENT tensors have none.
#ifndef TIM_VX_TENSOR_TENSOR_STORAGE_H_
#define TIM_VX_TENSOR_TENSOR_STORAGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/memory_count.h"
#include "base/status.h"
#include "ir/constant.h"
#include "ir/packed_form.h"
#include "runtime/state_set.h"

namespace tim::vx {

/// INPUT and OUTPUT: host memory that every run reads or writes, the graph's
/// or the client's.
struct HandleStorage {
  /// Whose the content is that a client reads.
  enum class Content {
    kNone,    ///< Nobody's: no run and no client has written it.
    kFailed,  ///< Nobody's: the last run has failed.
    kGiven,
  };

  void* memory = nullptr;  ///< Null: an OUTPUT whose shape is not known yet.
  int64_t bytes = 0;
  Content content = Content::kGiven;
};

/// CONSTANT: its bytes, or what they can be made of again.
class ConstantStorage {
 public:
  ConstantStorage() = default;
  explicit ConstantStorage(std::shared_ptr<const ir::ConstantData> data)
      : data_(std::move(data)) {}

  bool has_content() const { return data_ != nullptr || form_ != nullptr; }
  const Hash128& hash() const {
    return data_ != nullptr ? data_->hash : form_->hash;
  }
  /// The bytes, of a storage that has content; where it holds none they live as
  /// long as what this returns.
  Result<std::shared_ptr<const ir::ConstantData>> Data() const;

  /// The same, and one copy of them as long as anybody has it.
  Result<std::shared_ptr<const ir::ConstantData>> SharedData();

  /// The storage after a Compile() for which `data` was given out: it holds it;
  /// but where a form of the plan stands for it, and nobody else holds it,
  /// neither does.
  void Settle(std::shared_ptr<const ir::PackedForm> form,
              std::shared_ptr<const ir::ConstantData>* data);
  /// Holds the bytes again.
  Status Restore();

 private:
  /// One of both, where there is content.
  std::shared_ptr<const ir::ConstantData> data_;
  std::shared_ptr<const ir::PackedForm> form_;
  /// Bytes of `form_` that somebody may have.
  std::weak_ptr<const ir::ConstantData> shared_;
};

/// VARIABLE: on the host until the graph is compiled, then in its StateSet.
class StateStorage {
 public:
  explicit StateStorage(std::vector<std::byte> bytes)
      : bytes_(std::move(bytes)), size_(bytes_.size()), counted_(HostBytes()) {}

  Status Write(const void* data);
  Status Read(void* data) const;

  /// Moves the content into state `index`, or back to the host.
  Status Attach(std::shared_ptr<runtime::StateSet> states, int index);
  Status Detach();

 private:
  int64_t HostBytes() const { return static_cast<int64_t>(bytes_.size()); }

  std::vector<std::byte> bytes_;  // empty while attached
  size_t size_ = 0;
  CountedBytes counted_;  // `bytes_`
  std::shared_ptr<runtime::StateSet> states_;
  int index_ = -1;
};

}  // namespace tim::vx

#endif  // TIM_VX_TENSOR_TENSOR_STORAGE_H_
