// Checks the planted operators that are named, and writes into a folder, for
// each, the program that repeats what was found.
#include <cstdio>
#include <fstream>
#include <string>

#include "planted_ops.h"

namespace {

bool Write(const planted::Fault& fault, const std::string& folder) {
  tim::vx::check::CheckOptions options = planted::Options();
  options.devices = {0};
  const tim::vx::check::CheckResult result =
      tim::vx::check::CheckCustomOp(planted::Checked(fault), options);
  std::printf("%s: %s\n", fault.name, result.text.c_str());
  if (result.faults.size() != 1 || result.faults[0].kind != fault.kind) {
    return false;
  }
  std::ofstream program(folder + "/" + fault.name + ".cc");
  program << result.faults[0].program;
  return program.good();
}

}  // namespace

int main(int argc, char** argv) {
  int written = 0;
  for (const planted::Fault& fault : planted::Faults()) {
    for (int i = 2; i < argc; ++i) {
      if (argv[i] == std::string(fault.name)) written += Write(fault, argv[1]);
    }
  }
  return written == argc - 2 ? 0 : 1;
}
