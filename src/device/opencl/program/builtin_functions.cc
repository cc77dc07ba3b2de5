// Finds the builtin functions that a program calls: their declarations are some
// hundred where clang's header has 16,000, which it reads twice per program,
// for 100 to 170 of the 150 to 220 ms that a small one takes.
#include "device/opencl/program/builtin_functions.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/str_cat.h"
#include "kernels/kernel_sources.h"
#include "kernels/text/c_tokens.h"

namespace tim::device {
namespace {

struct Family {
  std::string_view macro;  // TIM_DECLARE_<macro> of kernels/builtins.clh.
  std::string_view names;  // With a space after each.
  // Whether its names are also those of variables: they count where a bracket
  // follows.
  bool called = false;
};

constexpr Family kFamilies[] = {
    {"WORK_ITEM",
     "get_global_size get_global_id get_local_size get_local_id get_num_groups "
     "get_group_id get_global_offset "},
    {"WORK_DIM", "get_work_dim "},
    {"BARRIER", "barrier "},
    {"FENCE", "mem_fence read_mem_fence write_mem_fence "},
    {"REAL_1",
     "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh "
     "cospi erf erfc exp exp2 exp10 expm1 fabs floor lgamma log log2 log10 "
     "log1p logb rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma "
     "trunc "},
    {"REAL_1", "degrees radians sign ", true},
    {"REAL_2",
     "atan2 atan2pi copysign fdim fmod hypot maxmag minmag nextafter pow powr "
     "remainder "},
    {"REAL_3", "fma mad "},
    {"REAL_LIMIT", "fmax fmin "},
    {"MIX", "mix ", true},
    {"STEP", "step ", true},
    {"DOT", "dot ", true},
    {"FLOAT_1",
     "native_cos native_exp native_exp10 native_exp2 native_log native_log10 "
     "native_log2 native_recip native_rsqrt native_sin native_sqrt native_tan "
     "half_cos half_exp half_exp10 half_exp2 half_log half_log10 half_log2 "
     "half_recip half_rsqrt half_sin half_sqrt half_tan "},
    {"FLOAT_2", "native_divide native_powr half_divide half_powr "},
    {"INTEGER_1", "clz popcount "},
    {"INTEGER_2", "add_sat hadd mul_hi rhadd rotate sub_sat "},
    {"INTEGER_3", "mad_hi mad_sat "},
    {"INT_2", "mul24 "},
    {"INT_3", "mad24 "},
    {"ABS", "abs "},
    {"ABS_DIFF", "abs_diff "},
    {"LIMIT", "max min "},
    {"CLAMP", "clamp "},
    {"BITSELECT", "bitselect "},
    {"TEST_1", "isfinite isinf isnan isnormal signbit "},
    {"TEST_2",
     "isequal isgreater isgreaterequal isless islessequal islessgreater "
     "isnotequal isordered isunordered "},
    {"VOTE", "all any ", true},
    {"SELECT", "select ", true},
    {"PREFETCH", "prefetch ", true},
    {"ATOMIC_0", "atomic_dec atomic_inc "},
    {"ATOMIC_1",
     "atomic_add atomic_and atomic_max atomic_min atomic_or atomic_sub "
     "atomic_xor "},
    {"ATOMIC_2", "atomic_cmpxchg "},
    {"ATOMIC_XCHG", "atomic_xchg "},
};

// Other functions, where a bracket follows; beginnings end with '*'.
constexpr std::string_view kOthers[] = {
    "async_*",     "atom_*",       "atomic_*",    "cross",    "ctz",
    "distance",    "fast_*",       "fract",       "frexp",    "get_image_*",
    "ilogb",       "intel_*",      "ldexp",       "length",   "lgamma_r",
    "modf",        "nan",          "normalize",   "pown",     "printf",
    "read_image*", "remquo",       "rootn",       "shuffle*", "sincos",
    "smoothstep",  "sub_group_*",  "upsample",    "vloada_*", "vstorea_*",
    "wait_*",      "work_group_*", "write_image*"};

constexpr std::string_view kIntegers[] = {"char", "uchar", "short", "ushort",
                                          "int",  "uint",  "long",  "ulong"};
constexpr std::string_view kVectors[] = {"2", "3", "4", "8", "16"};
constexpr std::string_view kRoundings[] = {"", "_rte", "_rtz", "_rtp", "_rtn"};

template <class Words>
bool Has(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

bool TakePrefix(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

std::string_view TakeDigits(std::string_view* text) {
  const size_t end =
      std::min(text->find_first_not_of("0123456789"), text->size());
  const std::string_view digits = text->substr(0, end);
  text->remove_prefix(end);
  return digits;
}

// A name without "convert_": "int16_sat_rte".
std::string DeclareConversion(std::string_view rest) {
  const size_t end = std::min(rest.find_first_of("0123456789_"), rest.size());
  const std::string_view type = rest.substr(0, end);
  rest.remove_prefix(end);
  const std::string_view size = TakeDigits(&rest);
  const std::string_view suffix = rest;
  const bool saturates = TakePrefix("_sat", &rest);
  if (!size.empty() && !Has(kVectors, size)) return "";
  if (!Has(kRoundings, rest)) return "";
  if (Has(kIntegers, type) || (type == "float" && !saturates)) {
    return StrCat("TIM_DECLARE_CONVERT(", type, ", ", size, ", ", suffix,
                  ")\n");
  }
  if (saturates) return "";
  for (const auto& [real, macro] :
       {std::pair("double", "DOUBLE"), std::pair("half", "HALF")}) {
    if (type == real) {
      return StrCat("TIM_DECLARE_CONVERT_", macro, "(", size, ", ", suffix,
                    ")\n");
    }
  }
  return "";
}

// vload4, vstore16, vload_half, vstore_half16_rte.
std::string DeclareAccess(std::string_view name) {
  std::string_view rest = name;
  const bool loads = TakePrefix("vload", &rest);
  if (!loads && !TakePrefix("vstore", &rest)) return "";
  const std::string_view macro = loads ? "VLOAD" : "VSTORE";
  const bool halves = TakePrefix("_half", &rest);
  const std::string_view size = TakeDigits(&rest);
  if (halves ? !size.empty() && !Has(kVectors, size) : !Has(kVectors, size)) {
    return "";
  }
  if (!halves && rest.empty()) {
    return StrCat("TIM_DECLARE_", macro, "(", size, ")\n");
  }
  if (!halves || (loads ? !rest.empty() : !Has(kRoundings, rest))) return "";
  return StrCat("TIM_DECLARE_", macro, "_HALF(", size, ", ", name, ")\n");
}

// What the library's own texts make by ## of a name's beginning: conversions
// of and to types of one element and of sixteen, vectors of four or more.
std::string DeclarePasted(std::string_view begin) {
  std::string out;
  if (begin == "convert_") {
    for (const std::string_view size : {"", "16"}) {
      for (const std::string_view type : kIntegers) {
        out += DeclareConversion(StrCat(type, size));
        out += DeclareConversion(StrCat(type, size, "_sat"));
      }
      out += DeclareConversion(StrCat("float", size));
    }
  }
  if (begin == "vload" || begin == "vstore") {
    for (const std::string_view size : {"4", "8", "16"}) {
      out += DeclareAccess(StrCat(begin, size));
    }
  }
  return out;
}

bool IsOther(std::string_view word) {
  return std::ranges::any_of(kOthers, [&](std::string_view other) {
    if (!other.ends_with('*')) return word == other;
    return word.starts_with(other.substr(0, other.size() - 1));
  });
}

// Each with whether a bracket follows.
using Words = std::set<std::pair<std::string_view, bool>>;

void AddWords(std::string_view text, Words* words) {
  kernels::CTokens tokens(text, kernels::Directives::kGiven);
  for (std::string_view token = tokens.Next(); !token.empty();) {
    const std::string_view next = tokens.Next();
    if (token.size() > 1 && token[0] == '#') {
      AddWords(token.substr(1), words);
    } else if (kernels::IsWord(token)) {
      words->emplace(token, next == "(");
    }
    token = next;
  }
}

const Family* FindFamily(std::string_view word, bool called) {
  for (const Family& family : kFamilies) {
    if (family.called && !called) continue;
    size_t at = 0;
    while ((at = family.names.find(word, at)) != std::string_view::npos) {
      const bool starts = at == 0 || family.names[at - 1] == ' ';
      at += word.size();
      if (starts && family.names[at] == ' ') return &family;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> DeclareBuiltins(
    std::initializer_list<std::string_view> texts) {
  Words words;
  for (const std::string_view text : texts) AddWords(text, &words);
  std::set<std::string> lines;
  for (const auto& [word, called] : words) {
    std::string_view rest = word;
    if (const Family* family = FindFamily(word, called)) {
      lines.insert(StrCat("TIM_DECLARE_", family->macro, "(", word, ")\n"));
    } else if (called && IsOther(word)) {
      return std::nullopt;
    } else if (TakePrefix("convert_", &rest) && !rest.empty()) {
      lines.insert(DeclareConversion(rest));
    } else {
      lines.insert(DeclareAccess(word) + DeclarePasted(word));
    }
  }
  std::string out = kernels::FindHeader("kernels/builtins.clh");
  for (const std::string& line : lines) out += line;
  return out + "#line 1\n";
}

}  // namespace tim::device
