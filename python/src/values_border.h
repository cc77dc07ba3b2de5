// The border between Python and functions of arrays: handles that are dropped
// without the interpreter's lock, functions of Python as those of the front.
#ifndef TIMCL_PYTHON_VALUES_BORDER_H_
#define TIMCL_PYTHON_VALUES_BORDER_H_

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "python_call.h"
#include "tim/values/values.h"

namespace timcl {

namespace tv = tim::values;

/// A handle of the front as an object of Python.  Its last copy may wait for
/// what the library runs, which may wait for the interpreter's lock.
template <typename Handle>
class Kept {
 public:
  explicit Kept(Handle handle) : handle_(std::move(handle)) {}
  ~Kept() {
    Released released;
    const Handle last = std::move(handle_);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  Handle& get() { return handle_; }
  const Handle& get() const { return handle_; }

 private:
  Handle handle_;
};

/// An object of Python for a handle.
template <typename Handle>
using Object = nb::typed<nb::object, Kept<Handle>>;

template <typename Handle>
Object<Handle> Keep(Handle handle) {
  return nb::cast(new Kept<Handle>(std::move(handle)),
                  nb::rv_policy::take_ownership);
}

/// Raises what a function of Python has raised on this thread while the
/// library called it; nothing where there is nothing.
void RaiseKept();

/// `call()` of the front, without the interpreter's lock.  What functions of
/// Python raise in it is raised as it is.
template <typename Call>
auto InFront(const Call& call) {
  ForgetCause();
  auto result = InLibrary(call);
  RaiseKept();
  return result;
}

/// Keeps the exception in flight for RaiseKept(), the first one of a call.
void KeepRaised();

/// `call()`, which calls functions of Python, from within InFront().
template <typename Call>
void CallPython(const Call& call) {
  nb::gil_scoped_acquire acquired;
  try {
    call();
    return;
  } catch (...) {
    KeepRaised();
  }
  throw std::runtime_error("a function of Python has raised an exception");
}

/// Values of a list of Python, None: an absent one; and the counterpart.
std::vector<tv::Value> ValuesOf(nb::handle list);
nb::list ListOf(const std::vector<tv::Value>& values);
/// Tokens of a list of Python.
std::vector<tv::Token> TokensOf(nb::handle list);

/// A function of Python that takes a list and returns one.
tv::Function FunctionOf(nb::object function);

/// (type, shape, quantization): a shape is None where its rank is unknown, an
/// extent None where it is, and -n where it is unknown and at most n.
nb::tuple ToPython(const tv::Spec& spec);
tv::Spec ToValuesSpec(nb::handle described);
nb::list ToPython(const std::vector<tv::Spec>& specs);
std::vector<tv::Spec> ToValuesSpecs(nb::handle list);

/// Attributes of a list of (name, value); raises ArgumentError.
tv::Attribute ToAttribute(const std::string& name, nb::handle value);
tv::Attributes ToAttributes(nb::handle list);

void BindValues(nb::module_& module);
void BindCalls(nb::module_& module);
void BindGraphs(nb::module_& module);
void BindRewriting(nb::module_& module);

}  // namespace timcl

#endif  // TIMCL_PYTHON_VALUES_BORDER_H_
