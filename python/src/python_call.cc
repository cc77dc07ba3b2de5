// The border between Python and the library.
#include "python_call.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace timcl {
namespace {

thread_local int library_calls = 0;
// ThreadCalls that this thread is in, for which Close() waits.
thread_local int entered_calls = 0;
// Owned; touched with the interpreter's lock held.
thread_local PyObject* cause = nullptr;

std::atomic<int> thread_calls{0};
// In ~Released(), before they have the lock.
std::atomic<int> returning{0};
std::atomic<bool> closed{false};
// Valid once `closed`.
std::thread::id closer;

}  // namespace

nb::str Text(const std::string& text) {
  PyObject* made = PyUnicode_DecodeUTF8(
      text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (made == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(made);
}

Released::~Released() {
  ++returning;
  if (closed && entered_calls == 0 && std::this_thread::get_id() != closer) {
    --returning;
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  PyEval_RestoreThread(thread_);
  --returning;
}

LibraryCall::LibraryCall() { ++library_calls; }
LibraryCall::~LibraryCall() { --library_calls; }
bool LibraryCall::Active() { return library_calls > 0; }

ThreadCall::ThreadCall() {
  ++thread_calls;
  open_ = !closed;
  if (open_) {
    ++entered_calls;
  } else {
    --thread_calls;
  }
}

ThreadCall::~ThreadCall() {
  if (!open_) return;
  --entered_calls;
  --thread_calls;
}

void ThreadCall::Close() {
  closer = std::this_thread::get_id();
  closed = true;
  for (int i = 0; i < 10000 && thread_calls + returning > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void ForgetCause() { Py_CLEAR(cause); }

std::string KeepCause(nb::python_error& error) {
  const nb::handle value = error.value();
  Py_XDECREF(cause);
  cause = value.inc_ref().ptr();
  std::string text = nb::cast<std::string>(error.type().attr("__name__"));
  const nb::object message = nb::steal<nb::object>(PyObject_Str(value.ptr()));
  if (!message.is_valid()) {
    PyErr_Clear();
    return text;
  }
  nb::object encoded = message.attr("encode")("utf-8", "replace");
  const char* bytes = PyBytes_AsString(encoded.ptr());
  if (bytes != nullptr && *bytes != 0) text += std::string(": ") + bytes;
  return text;
}

void RaiseWith(const char* type, nb::tuple arguments) {
  nb::object kind = nb::module_::import_("timcl.errors").attr(type);
  nb::object raised = kind(*arguments);
  if (cause != nullptr) {
    PyException_SetCause(raised.ptr(), std::exchange(cause, nullptr));
  }
  PyErr_SetObject(kind.ptr(), raised.ptr());
  throw nb::python_error();
}

void Raise(const char* type, const std::string& text) {
  RaiseWith(type, nb::make_tuple(Text(text)));
}

PyRef::PyRef(nb::object object)
    : object_(object.release().ptr(), [](PyObject* held) {
        // At the end of the process its memory goes by itself.
        if (held == nullptr) return;
        const ThreadCall entered;
        if (!entered) return;
        nb::gil_scoped_acquire acquired;
        Py_DECREF(held);
      }) {}

Buffer::Buffer(nb::handle object, Access access) {
  auto view = std::make_unique<Py_buffer>();
  const int flags = access == Access::kWrite ? PyBUF_WRITABLE : PyBUF_SIMPLE;
  if (PyObject_GetBuffer(object.ptr(), view.get(), flags) != 0) {
    throw nb::python_error();
  }
  view_ = std::shared_ptr<Py_buffer>(view.release(), [](Py_buffer* held) {
    const ThreadCall entered;
    if (!entered) return;
    nb::gil_scoped_acquire acquired;
    PyBuffer_Release(held);
    delete held;
  });
}

}  // namespace timcl
