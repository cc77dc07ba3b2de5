// Objects of the C boundary, which others may use longer than their client.
#ifndef TIM_GRAPH_API_CLIENT_HELD_H_
#define TIM_GRAPH_API_CLIENT_HELD_H_

#include <memory>
#include <utility>

namespace tim::graph {

/// Base of a struct of the C boundary: a client holds it by a pointer until it
/// drops it, others by std::shared_ptr, which may be later.  `get()` of those
/// is the pointer that the client got.
template <typename T>
class ClientHeld : public std::enable_shared_from_this<T> {
 public:
  template <typename... Args>
  static T* Make(Args&&... args) {
    auto made = std::make_shared<T>(std::forward<Args>(args)...);
    T* const object = made.get();
    object->client_ = std::move(made);
    return object;
  }

  /// By the client, once.
  void Drop() {
    const auto last = std::move(client_);  // may be the last that holds it
  }

 private:
  std::shared_ptr<T> client_;
};

}  // namespace tim::graph

#endif  // TIM_GRAPH_API_CLIENT_HELD_H_
