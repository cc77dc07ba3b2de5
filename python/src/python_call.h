// The border between Python and the library: the interpreter's lock,
// exceptions, references that threads of the library drop, and memory of
// Python's arrays.
#ifndef TIMCL_PYTHON_PYTHON_CALL_H_
#define TIMCL_PYTHON_PYTHON_CALL_H_

// Conversions of these types must be seen wherever values cross the border.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace timcl {

namespace nb = nanobind;

/// `text` as a str; bytes that are no UTF-8, which names in files may have, are
/// replaced.
nb::str Text(const std::string& text);

/// Scope without the interpreter's lock.  Where the interpreter ends meanwhile,
/// a daemon thread stays in it for good: Python before 3.14 would end the
/// thread there, through frames of C++ that must not be left so.
class Released {
 public:
  Released() : thread_(PyEval_SaveThread()) {}
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* thread_;
};

/// Scope in which this thread calls the library: other threads of Python run,
/// and what the library logs as an error is going to be raised.  Begins with
/// the interpreter's lock held; nothing of Python may be touched in it.
class LibraryCall {
 public:
  LibraryCall();
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

  /// True where this thread is in such a scope.
  static bool Active();

 private:
  Released released_;
};

/// `call()` of the library, a bool, in a LibraryCall.
template <typename Call>
auto InLibrary(const Call& call) {
  LibraryCall scope;
  return call();
}

/// Raises timcl.errors.<type>(text).  Its cause is the exception that a
/// function of the user's has raised on this thread since ForgetCause().
[[noreturn]] void Raise(const char* type, const std::string& text);
[[noreturn]] void RaiseWith(const char* type, nb::tuple arguments);
void ForgetCause();

/// Scope in which a thread that may be the library's touches Python.
class ThreadCall {
 public:
  ThreadCall();
  ~ThreadCall();
  ThreadCall(const ThreadCall&) = delete;
  ThreadCall& operator=(const ThreadCall&) = delete;

  /// False where the interpreter ends: it may not be called.
  explicit operator bool() const { return open_; }

  /// Lets no call begin any more, and waits for those that have begun, ten
  /// seconds at most.
  static void Close();

 private:
  bool open_;
};

/// A reference that any thread may drop.
class PyRef {
 public:
  PyRef() = default;
  explicit PyRef(nb::object object);

  /// The object; the caller holds the interpreter's lock.
  nb::handle get() const { return nb::handle(object_.get()); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  std::shared_ptr<PyObject> object_;
};

/// `call()`, which calls functions of the user's, from within the library: what
/// they raise is thrown as "ValueError: text", and kept as the cause.
template <typename Call>
void InPython(const Call& call);

/// Keeps the exception as the cause; its text.  With the lock held.
std::string KeepCause(nb::python_error& error);

template <typename Call>
void InPython(const Call& call) {
  const ThreadCall entered;
  if (!entered) throw std::runtime_error("the interpreter has ended");
  nb::gil_scoped_acquire acquired;
  std::string text;
  try {
    call();
    return;
  } catch (nb::python_error& error) {
    text = KeepCause(error);
  } catch (const nb::cast_error&) {
    text = "TypeError: a function returned an object of another type";
  }
  throw std::runtime_error(text);
}

/// The memory of an object with Python's buffer protocol, in one piece, which
/// stays while this lives.  Any thread may drop it.
class Buffer {
 public:
  enum class Access { kRead, kWrite };

  Buffer(nb::handle object, Access access);

  void* data() const { return view_->buf; }
  std::size_t size() const { return static_cast<std::size_t>(view_->len); }
  /// Shares the memory.
  std::shared_ptr<const void> Share() const {
    return std::shared_ptr<const void>(view_, view_->buf);
  }

 private:
  std::shared_ptr<Py_buffer> view_;
};

}  // namespace timcl

#endif  // TIMCL_PYTHON_PYTHON_CALL_H_
