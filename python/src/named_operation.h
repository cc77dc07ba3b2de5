// Operators of the registry by their names.
#ifndef TIMCL_PYTHON_NAMED_OPERATION_H_
#define TIMCL_PYTHON_NAMED_OPERATION_H_

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "tim/vx/graph.h"
#include "tim/vx/operation.h"

namespace timcl {

namespace nb = nanobind;

/// An attribute on its way from Python; the name stays where it is.
struct GivenAttribute {
  std::string name;
  std::string kind;  ///< "bool", "int", "float", "text", or "ints" …
  nb::object value;
};

/// With the interpreter's lock held: the list's (name, kind, value) tuples.
std::vector<GivenAttribute> AttributesOf(nb::list attributes);

/// Adds the operator `name` to `graph`.
std::shared_ptr<tim::vx::Operation> AddNamedOperation(
    tim::vx::Graph* graph, const std::string& name,
    const std::vector<GivenAttribute>& attributes);

/// (name, least inputs, most inputs, least outputs, most outputs, attributes)
/// of each; an attribute is (name, kind, required, default, {value name: n}).
nb::list ListOperators();

}  // namespace timcl

#endif  // TIMCL_PYTHON_NAMED_OPERATION_H_
