// The public classes of an operator.
#include "ir/op_schema.h"
#include "tests/properties/properties.h"
#include "tests/support/vx/vx_graph.h"
#include "vx/operation/op_impl.h"

namespace tim::testing {
namespace {

Status Expect(const std::string& what, const ir::AttributeMap& found,
              const ir::AttributeMap& expected) {
  if (found == expected) return OkStatus();
  return InvalidArgument(what, " has ", found.ToString(), ", expected ",
                         expected.ToString());
}

Status CheckShell(const Shell& shell, const ir::OpSchema& schema) {
  const auto graph = HostGraph();
  auto other = HostGraph();
  const auto operation = shell.make(*graph);
  if (StrCat("tim.", operation->Name()) !=
      StrCat(schema.domain, ".", schema.name)) {
    return InvalidArgument("its name is ", operation->Name());
  }
  ir::AttributeMap found = operation->impl()->attributes;
  ir::AttributeMap expected = shell.attributes;
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(schema, &found));
  TIM_RETURN_IF_ERROR(ir::CompleteAttributes(schema, &expected));
  TIM_RETURN_IF_ERROR(Expect("it", found, expected));
  const auto clone = operation->Clone(other);
  if (clone == nullptr || other->OpVector().back() != clone) {
    return InvalidArgument("its Clone is not of the other graph");
  }
  if (std::string(clone->Name()) != operation->Name()) {
    return InvalidArgument("its Clone is a ", clone->Name());
  }
  return Expect("its Clone", clone->impl()->attributes,
                operation->impl()->attributes);
}

}  // namespace

Status ShellsAgree(const Described& described) {
  const ir::OpSchema* schema = described.registry.Find(described.cases.op);
  if (schema == nullptr) return NotFound("no operator ", described.cases.op);
  for (const Shell& shell : described.cases.shells) {
    TIM_RETURN_IF_ERROR(CheckShell(shell, *schema).WithContext(shell.call));
  }
  return OkStatus();
}

}  // namespace tim::testing
