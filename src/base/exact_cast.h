// Casts to classes that nothing is derived from.
#ifndef TIM_BASE_EXACT_CAST_H_
#define TIM_BASE_EXACT_CAST_H_

#include <type_traits>
#include <typeinfo>

namespace tim {

/// The object as a T, or null where it is none or null: dynamic_cast, in a
/// tenth of its instructions.
template <typename T, typename Base>
T* ExactCast(Base* object) {
  static_assert(std::is_final_v<T>, "a derived class would not be found");
  return object != nullptr && typeid(*object) == typeid(T)
             ? static_cast<T*>(object)
             : nullptr;
}

}  // namespace tim

#endif  // TIM_BASE_EXACT_CAST_H_
