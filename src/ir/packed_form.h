// Constants that can be made again from what kernels read in their place.
#ifndef TIM_IR_PACKED_FORM_H_
#define TIM_IR_PACKED_FORM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/status.h"
#include "ir/constant.h"

namespace tim::ir {

/// PackedConstant::pack that can be gone back: it loses nothing of its one
/// source where `unpack` writes as many bytes as that has.
struct ReversiblePacking {
  std::shared_ptr<const ConstantData> constant;
  /// Fills `packed`, zero bytes, with what is made of the constant.
  std::function<void(const std::byte* constant, std::byte* packed)> pack;
  /// Writes `unpacked` bytes of the constant as they were, from the packed
  /// ones alone.
  std::function<void(const std::byte* packed, std::byte* constant)> unpack;
  int64_t unpacked = 0;

  Status operator()(std::span<std::byte> packed) const;
};

/// A constant in the memory of a plan.
struct PackedForm {
  Hash128 hash;      ///< Of the constant.
  size_t bytes = 0;  ///< Of the constant.
  std::shared_ptr<const std::byte[]> packed;
  std::function<void(const std::byte* packed, std::byte* constant)> unpack;
};

/// The constant, in memory of its own.  kInternal where it has other bytes than
/// it had.
Result<std::shared_ptr<const ConstantData>> Unpack(const PackedForm& form);

/// Keeps the forms of all plans that its thread compiles during its life; the
/// innermost of a thread has them.
class PackedForms {
 public:
  PackedForms();
  PackedForms(const PackedForms&) = delete;
  PackedForms& operator=(const PackedForms&) = delete;
  ~PackedForms();

  /// Forms of plans that were given up are among them.
  const std::vector<PackedForm>& forms() const { return forms_; }

  /// Called by the compiler, with the memory that was packed.
  static void Keep(const ReversiblePacking& packing,
                   std::shared_ptr<const std::byte[]> packed);

 private:
  PackedForms* const outer_;
  std::vector<PackedForm> forms_;
};

}  // namespace tim::ir

#endif  // TIM_IR_PACKED_FORM_H_
