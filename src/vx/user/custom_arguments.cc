#include "vx/user/custom_arguments.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

namespace tim::vx {
namespace {

using ops::KernelArg;
using Kind = KernelArg::Kind;

struct Group {
  Kind kind;
  KernelArg (*make)(uint32_t);
  size_t count;
};

// In the order of the parameters.
std::array<Group, 6> GroupsOf(const ArgumentCounts& counts) {
  return {{{Kind::kInput, KernelArg::Input, counts.inputs},
           {Kind::kOutput, KernelArg::Output, counts.outputs},
           {Kind::kScratch, KernelArg::Scratch, counts.scratch},
           {Kind::kTable, KernelArg::Table, counts.tables},
           {Kind::kLocal, KernelArg::Local, counts.locals},
           {Kind::kScalar, KernelArg::Scalar, counts.scalars}}};
}

std::vector<KernelArg> Everything(const ArgumentCounts& counts) {
  std::vector<KernelArg> all;
  for (const Group& group : GroupsOf(counts)) {
    for (size_t i = 0; i < group.count; ++i) {
      all.push_back(group.make(static_cast<uint32_t>(i)));
    }
  }
  return all;
}

bool Has(const CustomKernel& kernel, Kind kind, size_t index) {
  return std::any_of(kernel.args.begin(), kernel.args.end(),
                     [&](const KernelArg& arg) {
                       return arg.kind() == kind && arg.index() == index;
                     });
}

std::string NameOf(Kind kind, size_t index) {
  return StrCat(ToString(kind), " ", index);
}

Status CheckKernel(const CustomKernel& kernel, const ArgumentCounts& counts) {
  const std::array<Group, 6> groups = GroupsOf(counts);
  for (auto arg = kernel.args.begin(); arg != kernel.args.end(); ++arg) {
    const size_t count = groups[static_cast<size_t>(arg->kind())].count;
    const std::string name = NameOf(arg->kind(), arg->index());
    if (arg->index() >= count) {
      return InvalidArgument("kernel '", kernel.function, "' is to get ", name,
                             "; the operator has ", count, ", numbered from 0");
    }
    if (arg->kind() != Kind::kOutput && arg->kind() != Kind::kScratch) continue;
    const bool twice =
        std::any_of(kernel.args.begin(), arg, [&](const KernelArg& other) {
          return other.kind() == arg->kind() && other.index() == arg->index();
        });
    if (!twice) continue;
    return InvalidArgument("kernel '", kernel.function, "' is to get ", name,
                           " twice");
  }
  return OkStatus();
}

bool MustBeTaken(const CustomMeans& means, Kind kind, size_t index) {
  if (kind == Kind::kScalar) return false;
  return kind != Kind::kInput || means.IsOptional(index);
}

}  // namespace

const char* ToString(Kind kind) {
  static constexpr const char* kNames[] = {"input", "output", "scratch",
                                           "table", "local",  "scalar"};
  return kNames[static_cast<int>(kind)];
}

Status SetArguments(const CustomMeans& means, const ArgumentCounts& counts,
                    std::vector<CustomKernel>* kernels) {
  if (means.first_args) kernels->front().args = *means.first_args;
  for (size_t i = 0; i < kernels->size(); ++i) {
    CustomKernel& kernel = (*kernels)[i];
    if (kernel.args.empty() && !(i == 0 && means.first_args)) {
      kernel.args = Everything(counts);
    }
    TIM_RETURN_IF_ERROR(CheckKernel(kernel, counts));
  }
  for (const Group& group : GroupsOf(counts)) {
    for (size_t i = 0; i < group.count; ++i) {
      if (!MustBeTaken(means, group.kind, i)) continue;
      const bool taken = std::any_of(kernels->begin(), kernels->end(),
                                     [&](const CustomKernel& kernel) {
                                       return Has(kernel, group.kind, i);
                                     });
      if (taken) continue;
      return InvalidArgument("no kernel gets ", NameOf(group.kind, i),
                             "; one of those of SetKernelArgs() and "
                             "AddKernel() must");
    }
  }
  return OkStatus();
}

}  // namespace tim::vx
