// Operators of the registry by their names.
#ifndef TIMCL_PYTHON_NAMED_OPERATION_H_
#define TIMCL_PYTHON_NAMED_OPERATION_H_

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "tim/vx/attribute.h"
#include "tim/vx/graph.h"
#include "tim/vx/operation.h"

namespace timcl {

namespace nb = nanobind;

/// Attributes, and the names that they point to.
struct NamedAttributes {
  std::vector<std::unique_ptr<const std::string>> names;
  std::vector<tim::vx::NamedAttribute> attributes;
};

/// Attributes of a list of (name, kind, value) tuples, whose kinds are "bool",
/// "int", "float", "text", "ints", "floats" and "texts".  With the
/// interpreter's lock held.
NamedAttributes AttributesOf(nb::list attributes);

/// Adds the operator `name` to `graph`.
std::shared_ptr<tim::vx::Operation> AddNamedOperation(
    tim::vx::Graph* graph, const std::string& name,
    const NamedAttributes& attributes);

/// (name, least inputs, most inputs, least outputs, most outputs, attributes)
/// of each; an attribute is (name, kind, required, default, {value name: n}).
nb::list ListOperators();

}  // namespace timcl

#endif  // TIMCL_PYTHON_NAMED_OPERATION_H_
