#include "ir/step.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/str_cat.h"

namespace tim::ir {
namespace {

struct ArgPrinter {
  std::string operator()(const TensorArg& arg) const {
    return StrCat("@", arg.operand);
  }
  std::string operator()(const LocalArg& arg) const {
    return StrCat("local:", arg.bytes);
  }
  std::string operator()(const UserTensorArg& arg) const {
    if (arg.operand == kAbsentOperand) return StrCat(arg.name, " absent");
    const bool added =
        arg.name.starts_with("scratch") || arg.name.starts_with("table");
    return StrCat("*", arg.operand, added ? " " + arg.name : "",
                  arg.kept ? " kept" : "", arg.zeroed ? " zeroed" : "",
                  arg.written ? " out " : " ", ToString(arg.type), " [",
                  StrJoin(arg.dims, ", "), "]");
  }
  std::string operator()(const UserScalarArg& arg) const {
    const auto text = [](auto value) { return StrCat(value); };
    std::string values = std::visit(text, arg.value);
    for (const UserScalarArg::Value& value : arg.more) {
      values += StrCat(", ", std::visit(text, value));
    }
    if (arg.more.empty()) return StrCat(arg.type, " ", values);
    return StrCat(arg.type, " (", values, ")");
  }
  template <typename T>
  std::string operator()(T value) const {
    return StrCat(value);
  }
};

std::string Sizes(const std::array<int64_t, 3>& sizes, int dimensions) {
  std::string out;
  for (int i = 0; i < std::min(dimensions, 3); ++i) {
    out += StrCat(i > 0 ? "x" : "", sizes[i]);
  }
  return out;
}

std::string TextHash(const KernelLaunch& launch) {
  return HashText(launch.text).ToString();
}

// "ops/normalization/softmax.cl", or the name and the hash of a text.
std::string SourceName(const KernelLaunch& launch) {
  if (!launch.source.empty()) return launch.source;
  return StrCat(launch.name.empty() ? "text" : launch.name, "@",
                TextHash(launch));
}

struct ActionPrinter {
  std::string operator()(const KernelLaunch& launch) const {
    std::string defines;
    for (const std::string& define : launch.defines) {
      defines += StrCat("#define ", define, "; ");
    }
    std::string args;
    for (const KernelArg& arg : launch.arguments) {
      args += StrCat(args.empty() ? "" : ", ", std::visit(ArgPrinter(), arg));
    }
    return StrCat("kernel ", SourceName(launch), ":", launch.function, " [",
                  defines, launch.options, "] (", args, ") global ",
                  Sizes(launch.global, launch.dimensions), " local ",
                  Sizes(launch.local, launch.dimensions));
  }
  std::string operator()(const HostCall& call) const {
    return StrCat("eval ", call.op, " ", call.attributes.ToString());
  }
  std::string operator()(const Copy& copy) const {
    return StrCat("copy ", copy.bytes, " bytes");
  }
  std::string operator()(const Gemm& gemm) const {
    return StrCat("gemm ", gemm.m, "x", gemm.n, "x", gemm.k,
                  gemm.transpose_a ? " ta" : "", gemm.transpose_b ? " tb" : "",
                  gemm.batches > 1 ? StrCat(" batches ", gemm.batches) : "");
  }
};

}  // namespace

std::string ToString(const Action& action) {
  return std::visit(ActionPrinter(), action);
}

std::string ProgramText(const KernelLaunch& launch) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = StrCat("program ", TextHash(launch), "\n  | ");
  for (const char c : launch.text) {
    if (c == '\n') {
      out += "\n  | ";
    } else if (c == '\t' || !IsAsciiControl(c)) {
      out += c;
    } else {
      out += StrCat("\\x", kDigits[(c >> 4) & 15], kDigits[c & 15]);
    }
  }
  return out + "\n";
}

}  // namespace tim::ir
