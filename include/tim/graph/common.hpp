// Errors, handles, engines and streams of the partition front.
//
// Header-only over the C boundary.  Exceptions are thrown here alone; where
// they are disabled, an error prints its message and ends the program.
#ifndef TIM_GRAPH_COMMON_HPP_
#define TIM_GRAPH_COMMON_HPP_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "tim/graph/c.h"

namespace tim {
namespace graph {

/// How a call went.
enum class status {
  success = tim_graph_success,
  out_of_memory = tim_graph_out_of_memory,
  invalid_arguments = tim_graph_invalid_arguments,
  unimplemented = tim_graph_unimplemented,
  last_impl_reached = tim_graph_last_impl_reached,
  runtime_error = tim_graph_runtime_error,
  not_required = tim_graph_not_required,
  invalid_graph = tim_graph_invalid_graph,
  invalid_graph_op = tim_graph_invalid_graph_op,
  invalid_shape = tim_graph_invalid_shape,
  invalid_data_type = tim_graph_invalid_data_type,
};

/// Arithmetic that float32 operations may use.
enum class fpmath_mode {
  strict = tim_graph_fpmath_mode_strict,
  bf16 = tim_graph_fpmath_mode_bf16,
  f16 = tim_graph_fpmath_mode_f16,
  any = tim_graph_fpmath_mode_any,
  tf32 = tim_graph_fpmath_mode_tf32,
};

/// Type of sums of products.
enum class accumulation_mode {
  strict = tim_graph_accumulation_mode_strict,
  relaxed = tim_graph_accumulation_mode_relaxed,
  any = tim_graph_accumulation_mode_any,
  s32 = tim_graph_accumulation_mode_s32,
  f32 = tim_graph_accumulation_mode_f32,
  f16 = tim_graph_accumulation_mode_f16,
};

inline tim_graph_fpmath_mode_t convert_to_c(fpmath_mode mode) {
  return static_cast<tim_graph_fpmath_mode_t>(mode);
}
inline tim_graph_accumulation_mode_t convert_to_c(accumulation_mode mode) {
  return static_cast<tim_graph_accumulation_mode_t>(mode);
}

/// A failure of a call.  Copies share the text.
struct error : public std::exception {
  tim_graph_status_t status;
  const char* message;

  /// `text` is copied.
  error(tim_graph_status_t code, const char* text)
      : status(code),
        message(nullptr),
        text_(
            std::make_shared<const std::string>(text == nullptr ? "" : text)) {
    message = text_->c_str();
  }

  const char* what() const noexcept override { return message; }

  /// Throws unless `code` is success: `text`, then what the library says.
  static void wrap_c_api(tim_graph_status_t code, const char* text) {
    if (code == tim_graph_success) return;
    const std::string reason = tim_graph_last_message();
    fail(code, reason.empty() ? std::string(text) : text + (": " + reason));
  }

  /// Throws `text`.
  [[noreturn]] static void fail(tim_graph_status_t code,
                                const std::string& text) {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
    throw error(code, text.c_str());
#else
    std::fprintf(stderr, "tim::graph: %s: %s\n", tim_graph_status2str(code),
                 text.c_str());
    std::abort();
#endif
  }

 private:
  std::shared_ptr<const std::string> text_;
};

/// How objects of a C type are destroyed.
template <typename T>
struct handle_traits {};

#define TIM_GRAPH_HANDLE_TRAITS(name)                              \
  template <>                                                      \
  struct handle_traits<tim_graph_##name##_t> {                     \
    static tim_graph_status_t destructor(tim_graph_##name##_t p) { \
      return tim_graph_##name##_destroy(p);                        \
    }                                                              \
  }
TIM_GRAPH_HANDLE_TRAITS(engine);
TIM_GRAPH_HANDLE_TRAITS(stream);
TIM_GRAPH_HANDLE_TRAITS(allocator);
TIM_GRAPH_HANDLE_TRAITS(tensor);
TIM_GRAPH_HANDLE_TRAITS(op);
TIM_GRAPH_HANDLE_TRAITS(graph);
TIM_GRAPH_HANDLE_TRAITS(partition);
TIM_GRAPH_HANDLE_TRAITS(compiled_partition);
#undef TIM_GRAPH_HANDLE_TRAITS

/// An object of the C boundary, shared by all copies of the handle; the last
/// one destroys it.  Empty at first.
template <typename T, typename traits = handle_traits<T>>
struct handle {
  handle() = default;
  handle(const handle&) = default;
  handle& operator=(const handle&) = default;
  handle(handle&&) = default;
  handle& operator=(handle&&) = default;
  /// \param weak The object is not destroyed by this handle and its copies.
  explicit handle(T object, bool weak = false) { reset(object, weak); }

  void reset(T object, bool weak = false) {
    data_.reset(object, weak ? &keep : &destroy);
  }

  /// Throws where the handle is empty, unless `allow_empty`.
  T get(bool allow_empty = false) const {
    T object = data_.get();
    if (!allow_empty && object == nullptr) {
      error::fail(tim_graph_invalid_arguments, "object is not initialized");
    }
    return object;
  }

  explicit operator T() const { return get(true); }
  explicit operator bool() const { return get(true) != nullptr; }

  bool operator==(const handle& other) const {
    return data_.get() == other.data_.get();
  }
  bool operator!=(const handle& other) const { return !(*this == other); }

 private:
  static tim_graph_status_t keep(T) { return tim_graph_success; }
  static tim_graph_status_t destroy(T object) {
    return object == nullptr ? tim_graph_success : traits::destructor(object);
  }

  std::shared_ptr<typename std::remove_pointer<T>::type> data_{};
};

/// A device, and the memory that tensors of it lie in.
struct engine : public handle<tim_graph_engine_t> {
  /// The memory: the host's, or OpenCL's.
  enum class kind {
    any = tim_graph_any_engine,
    cpu = tim_graph_cpu,
    gpu = tim_graph_gpu,
  };

  using handle::handle;
  engine() = default;
  engine(kind akind, std::size_t index) {
    tim_graph_engine_t made = nullptr;
    error::wrap_c_api(
        tim_graph_engine_create(
            &made, static_cast<tim_graph_engine_kind_t>(akind), index),
        "could not create an engine");
    reset(made);
  }

  static std::size_t get_count(kind akind) {
    return tim_graph_engine_get_count(
        static_cast<tim_graph_engine_kind_t>(akind));
  }

  kind get_kind() const {
    tim_graph_engine_kind_t found = tim_graph_any_engine;
    error::wrap_c_api(tim_graph_engine_get_kind(get(), &found),
                      "could not get the kind of an engine");
    return static_cast<kind>(found);
  }
};

inline tim_graph_engine_kind_t convert_to_c(engine::kind kind) {
  return static_cast<tim_graph_engine_kind_t>(kind);
}

/// Runs of one after the other on an engine.
struct stream : public handle<tim_graph_stream_t> {
  enum class flags : unsigned {
    in_order = tim_graph_stream_in_order,
    /// Accepted, and runs in order.
    out_of_order = tim_graph_stream_out_of_order,
    default_flags = tim_graph_stream_default_flags,
    /// An execute may return before its end on a cpu engine, too.
    asynchronous = tim_graph_stream_asynchronous,
  };

  using handle::handle;
  stream() = default;
  explicit stream(const engine& aengine, flags aflags = flags::default_flags) {
    tim_graph_stream_t made = nullptr;
    error::wrap_c_api(tim_graph_stream_create(&made, aengine.get(),
                                              static_cast<unsigned>(aflags)),
                      "could not create a stream");
    reset(made);
  }

  engine get_engine() const {
    tim_graph_engine_t found = nullptr;
    error::wrap_c_api(tim_graph_stream_get_engine(get(), &found),
                      "could not get the engine of a stream");
    return engine(found, true);
  }

  /// Until all that was executed is complete; throws what failed of it, once.
  stream& wait() {
    error::wrap_c_api(tim_graph_stream_wait(get()),
                      "could not wait for a stream");
    return *this;
  }
};

#define TIM_GRAPH_BIT_OPERATORS(type)                            \
  inline type operator|(type a, type b) {                        \
    return static_cast<type>(static_cast<unsigned>(a) |          \
                             static_cast<unsigned>(b));          \
  }                                                              \
  inline type operator&(type a, type b) {                        \
    return static_cast<type>(static_cast<unsigned>(a) &          \
                             static_cast<unsigned>(b));          \
  }                                                              \
  inline type operator^(type a, type b) {                        \
    return static_cast<type>(static_cast<unsigned>(a) ^          \
                             static_cast<unsigned>(b));          \
  }                                                              \
  inline type operator~(type a) {                                \
    return static_cast<type>(~static_cast<unsigned>(a));         \
  }                                                              \
  inline type& operator|=(type& a, type b) { return a = a | b; } \
  inline type& operator&=(type& a, type b) { return a = a & b; } \
  inline type& operator^=(type& a, type b) { return a = a ^ b; } \
  static_assert(sizeof(type) == sizeof(unsigned), "flags are unsigned")
TIM_GRAPH_BIT_OPERATORS(stream::flags);

/// Callbacks that an engine allocates by.
class allocator : public handle<tim_graph_allocator_t> {
 public:
  using handle::handle;
  /// The default: aligned memory of the host.
  allocator() : allocator(nullptr, nullptr) {}
  /// Either null: the default.
  allocator(tim_graph_host_allocate_f host_malloc,
            tim_graph_host_deallocate_f host_free) {
    tim_graph_allocator_t made = nullptr;
    error::wrap_c_api(tim_graph_allocator_create(&made, host_malloc, host_free),
                      "could not create an allocator");
    reset(made);
  }
};

/// The engine keeps the callbacks; the allocator may go.
inline engine make_engine_with_allocator(engine::kind kind, std::size_t index,
                                         const allocator& alloc) {
  tim_graph_engine_t made = nullptr;
  error::wrap_c_api(tim_graph_make_engine_with_allocator(
                        &made, static_cast<tim_graph_engine_kind_t>(kind),
                        index, alloc.get()),
                    "could not make an engine with an allocator");
  return engine(made);
}

}  // namespace graph
}  // namespace tim

#endif  // TIM_GRAPH_COMMON_HPP_
