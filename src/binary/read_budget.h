// How much memory may be made of a file: tables may share what they refer to,
// so that few bytes can describe very many.
#ifndef TIM_BINARY_READ_BUDGET_H_
#define TIM_BINARY_READ_BUDGET_H_

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "base/aligned_memory.h"
#include "base/status.h"

namespace tim::binary {

/// FlatBuffers' verifier looks at where a list begins, not at its elements.
/// (Those of an empty one are anywhere.)
template <typename T>
Status CheckAligned(const flatbuffers::Vector<T>* list) {
  using Element = std::remove_cv_t<std::remove_pointer_t<T>>;
  if (list == nullptr || list->size() == 0 ||
      IsAligned(list->Data(), alignof(Element))) {
    return OkStatus();
  }
  return InvalidArgument("a list in its tables is not aligned");
}

class ReadBudget {
 public:
  explicit ReadBudget(int64_t bytes) : left_(bytes) {}

  /// Called before `bytes` >= 0 bytes are allocated.
  Status Take(int64_t bytes) {
    if (bytes > left_) {
      return InvalidArgument(
          "its tables describe far more than a file of its size can hold");
    }
    left_ -= bytes;
    return OkStatus();
  }

  /// An absent text is empty.
  Result<std::string> Copy(const flatbuffers::String* text) {
    if (text == nullptr) return std::string();
    TIM_RETURN_IF_ERROR(Take(text->size()));
    return text->str();
  }
  /// An absent list is empty.
  template <typename T>
  Result<std::vector<T>> Copy(const flatbuffers::Vector<T>* list) {
    if (list == nullptr) return std::vector<T>();
    TIM_RETURN_IF_ERROR(CheckAligned(list));
    TIM_RETURN_IF_ERROR(Take(int64_t{sizeof(T)} * list->size()));
    return std::vector<T>(list->begin(), list->end());
  }
  /// The same of structs.
  template <typename T>
  Result<std::vector<T>> Copy(const flatbuffers::Vector<const T*>* list) {
    std::vector<T> copy;
    if (list == nullptr) return copy;
    TIM_RETURN_IF_ERROR(CheckAligned(list));
    TIM_RETURN_IF_ERROR(Take(int64_t{sizeof(T)} * list->size()));
    for (const T* element : *list) copy.push_back(*element);
    return copy;
  }

 private:
  int64_t left_;
};

}  // namespace tim::binary

#endif  // TIM_BINARY_READ_BUDGET_H_
