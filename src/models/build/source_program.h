// The parts of a recorded program that are the same for all models.
#ifndef TIM_MODELS_BUILD_SOURCE_PROGRAM_H_
#define TIM_MODELS_BUILD_SOURCE_PROGRAM_H_

namespace tim::models {

/// Behind the includes: variables, and how files are read.
extern const char kProgramHead[];
/// Behind Build(), kInputs, kOutputs, kWeights and kWeightBytes: main() up to
/// where the graph is built.
extern const char kProgramMain[];
/// Besides, for a graph with layout arguments: layout inference.
extern const char kProgramLayouts[];
/// The rest of main(): a run.
extern const char kProgramRun[];

}  // namespace tim::models

#endif  // TIM_MODELS_BUILD_SOURCE_PROGRAM_H_
