// Operators and kernels by name.  The compiler is handed one; none is global
// but the built-ins, behind ops::BuiltinOperators().
#ifndef TIM_IR_OP_REGISTRY_H_
#define TIM_IR_OP_REGISTRY_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ir/kernel_def.h"
#include "ir/op_schema.h"
#include "ir/part_def.h"
#include "ir/rewrite_rule.h"

namespace tim::ir {

/// Filled by one thread, then read by any.  One that is read is never changed:
/// who brings more makes another one.
class OpRegistry {
 public:
  /// `parent` is looked up after this one and must outlive it.
  explicit OpRegistry(const OpRegistry* parent = nullptr);
  OpRegistry(OpRegistry&& other) noexcept;
  ~OpRegistry();

  /// A second schema of the same key, or kernel, way of parts or rule of the
  /// same name, is refused and reported by Check().
  void Add(OpSchema schema);
  void Add(KernelDef kernel);
  void Add(PartDef part);
  void Add(RewriteRule rule);

  /// By "tim.Softmax" (newest version) or "tim.Softmax@1"; null if unknown.
  const OpSchema* Find(std::string_view name) const;
  /// Kernels that implement `op` ("tim.Conv2d" or a composite's name) on a
  /// kind of device, in order of registration.
  std::vector<const KernelDef*> Kernels(std::string_view op,
                                        std::string_view device_kind) const;
  /// Ways to run parts on a kind of device, in order of registration.
  std::vector<const PartDef*> Parts(std::string_view device_kind) const;
  /// Sorted by key; the parent's but where this one has the same key.
  std::vector<const OpSchema*> Schemas() const;
  std::vector<const KernelDef*> Kernels() const;
  /// In order of registration.
  std::vector<const RewriteRule*> Rules() const;

  /// Everything that Add refused or found incomplete (no eval, no shapes …).
  Status Check() const;
  std::string Dump() const;

 private:
  const OpRegistry* parent_;
  // unique_ptr: addresses stay valid while the maps grow.
  std::map<std::string, std::unique_ptr<const OpSchema>, std::less<>> schemas_;
  std::map<std::string, const OpSchema*, std::less<>> newest_;
  std::vector<std::unique_ptr<const KernelDef>> kernels_;
  std::multimap<std::string, const KernelDef*, std::less<>> by_op_;
  std::vector<std::unique_ptr<const PartDef>> parts_;
  std::vector<std::unique_ptr<const RewriteRule>> rules_;
  std::vector<std::string> problems_;
};

/// The last lines of ops/<stem>.cc:
///   TIM_OPERATOR(softmax) { registry.Add(...); }
/// Both builds collect these functions from the list of files.
#define TIM_OPERATOR(stem) \
  void Register_##stem([[maybe_unused]] ::tim::ir::OpRegistry& registry)

}  // namespace tim::ir

#endif  // TIM_IR_OP_REGISTRY_H_
