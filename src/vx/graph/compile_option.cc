#include "tim/vx/compile_option.h"

namespace tim::vx {

constinit CompileOption CompileOption::DefaultOptions;

}  // namespace tim::vx
