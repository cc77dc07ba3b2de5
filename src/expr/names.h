// Looks up the names of a statement.
#ifndef TIM_EXPR_NAMES_H_
#define TIM_EXPR_NAMES_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "expr/program.h"
#include "expr/scope.h"

namespace tim::expr {

/// What may stand at a place: anything, what is affine in index variables, what
/// has none.
enum class Context : uint8_t { kValue, kIndex, kSize };

/// Completes the nodes and StatementInfo::variables, accesses, in_index.
class NameReader {
 public:
  NameReader(Scope* scope, Statement* statement, StatementInfo* info);

  /// All nodes of `root`.
  Status Read(int root, Context context);
  /// That the tensor which a node refers to has its content by now.
  Status CheckAssigned(const Expr& node) const;

 private:
  Status ReadCall(Expr* node) const;
  Status ReadName(Expr* node, Context context);
  Status ReadDefined(Expr* node, const Symbol& symbol) const;
  Status ReadElement(Expr* node, const Symbol& symbol) const;
  Status ReadAccess(Expr* node, Context context);
  Status CheckIndex(int n, Context context);
  bool IsList(int attribute) const;

  Scope& scope_;
  Program& program_;
  Statement& statement_;
  StatementInfo& info_;
  std::vector<bool> varies_;  // By node: an index variable is in it.
};

}  // namespace tim::expr

#endif  // TIM_EXPR_NAMES_H_
