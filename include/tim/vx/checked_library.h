// Shared libraries of custom operators that `timcl check` tries.
#ifndef TIM_VX_CHECKED_LIBRARY_H_
#define TIM_VX_CHECKED_LIBRARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tim/vx/custom_op_check.h"
#include "tim/vx/export.h"

namespace tim {
namespace vx {
namespace check {

/// An operator as CheckCustomOp() takes it.
struct NamedOperator {
  std::string name;  ///< Not empty; no other operator of the library has it.
  CheckedOperator checked;
  CheckOptions options;  ///< The command line wins over them.
};

/// A fault as the library tells it to the program.  This struct and the two
/// below are plain data of C, so that each side may have been built with a
/// compiler and a TIM-CL of its own.  Pointers are valid during the call; texts
/// are never null, but where that is said.
struct LibraryFault {
  const char* kind;  ///< "wrong value"
  uint32_t device;
  const char* device_name;
  const char* operand;  ///< Empty: none.
  int64_t element;      ///< -1: none.
  const char* actual;
  const char* expected;
  const char* text;
  const char* program;  ///< Empty: none.
};

/// Outcome of one operator.
struct LibraryReport {
  const char* name;
  const char* mistake;  ///< Empty: it was checked.
  const char* text;
  uint32_t cases;
  uint32_t local_cases;
  uint32_t fault_count;
  const LibraryFault* faults;
};

/// Number of the layout of these structs.
enum : uint32_t { kLibraryVersion = 2 };

/// Request of the program, and the functions that it is told by.
struct LibraryRequest {
  uint32_t version;      ///< kLibraryVersion of the program; always the first.
  uint32_t cases;        ///< 0: as the operator says.
  const uint64_t* seed;  ///< Null: as the operator says.
  const char* name;      ///< The only operator to be checked; null: all are.
  const char* after;  ///< Those behind this one are; null: from the first on.
  void* receiver;     ///< First argument of the calls.
  void (*starts)(void* receiver, const char* name);
  void (*ends)(void* receiver, const LibraryReport* report);
  void (*fails)(void* receiver, const char* message);
};

/// Answer of a library.
enum class LibraryAnswer : int32_t {
  kDone = 0,             ///< ends() was called for every operator.
  kNoSuchOperator = -1,  ///< fails() was told.
  kFailed = -2,          ///< Likewise.
  // Others are the kLibraryVersion of a library that does not know the request.
};

/// Checks the operators that the function names, in order.  Nothing is thrown;
/// what the function throws is told to fails().
TIM_VX_API int32_t CheckLibrary(std::vector<NamedOperator> (*operators)(),
                                const LibraryRequest* request);

}  // namespace check
}  // namespace vx
}  // namespace tim

/// The name that the program looks for.
#define TIM_VX_CHECKED_LIBRARY_SYMBOL "tim_vx_check_operators"

/// Operators that `timcl check LIBRARY` tries: those that `function` returns, a
/// function of no arguments whose result is a
/// std::vector<tim::vx::check::NamedOperator>.  Once in a shared library,
/// outside of namespaces.
#define TIM_VX_CHECKED_OPERATORS(function)                      \
  extern "C" TIM_VX_API int32_t tim_vx_check_operators(         \
      const ::tim::vx::check::LibraryRequest* request) {        \
    return ::tim::vx::check::CheckLibrary((function), request); \
  }

#endif  // TIM_VX_CHECKED_LIBRARY_H_
