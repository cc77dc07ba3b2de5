// Programs as files: the graph, from which plans are made anew.
#ifndef TIM_VALUES_PROGRAM_FILE_H_
#define TIM_VALUES_PROGRAM_FILE_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "values/program_state.h"

namespace tim::values::internal {

/// Writes the program's graph and options in place of the file.
Status SaveProgram(const ProgramState& program, const std::string& path);
/// A failure says what of the file is wrong.
Result<std::shared_ptr<ProgramState>> LoadProgram(const std::string& path);

}  // namespace tim::values::internal

#endif  // TIM_VALUES_PROGRAM_FILE_H_
