// Names of a program while it is read.
#ifndef TIM_EXPR_SCOPE_H_
#define TIM_EXPR_SCOPE_H_

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "expr/program.h"
#include "expr/token.h"

namespace tim::expr {

struct Symbol {
  NameKind kind = NameKind::kUnknown;
  int index = -1;
};

/// "the dimension"
const char* ToString(NameKind kind);

class Scope {
 public:
  explicit Scope(Program* program) : program_(*program) {}

  /// Parameters with their dimensions, results and attributes.
  Status Declare();
  /// Fails where the name is defined already.
  Status Define(const Name& name, NameKind kind, int index);
  /// Null where it is not defined.
  const Symbol* Find(const std::string& name) const;

  /// Index variable of a statement; -1: it has none of that name.
  static int VariableOf(const StatementInfo& info, const std::string& name);
  Result<int> AddVariable(const Name& name, StatementInfo* info) const;
  Status AddDimension(const Name& name);
  /// An input of a bare text; returns its number among the tensors.
  int AddInput(const Name& name);

  Program& program() { return program_; }
  Status ErrorAt(size_t offset, std::string_view expected,
                 std::string_view found) const {
    return TextError(program_.text, offset, expected, found);
  }

 private:
  Status DeclareParam(const Param& param);

  Program& program_;
  std::map<std::string, Symbol> symbols_;
};

}  // namespace tim::expr

#endif  // TIM_EXPR_SCOPE_H_
