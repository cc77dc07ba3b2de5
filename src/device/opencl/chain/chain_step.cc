#include "device/opencl/chain/chain_step.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <variant>

#include "base/checked_math.h"
#include "base/processors.h"
#include "device/launch_check.h"
#include "device/opencl/driver/cl_status.h"
#include "device/opencl/driver/opencl_buffer.h"
#include "ir/index_limit.h"
#include "kernels/chain_rule.h"

namespace tim::device {
namespace {

// Parameters of kernels/chain.cl.
constexpr int kCounters = 0;
constexpr int kBegun = 1;
constexpr int kTable = 2;
constexpr int kLaunches = 3;
constexpr int kFirstBuffer = 4;

// A batch of work-groups is a small part of a worker's share, so that the
// workers end together.
constexpr int64_t kBatchesOfWorker = 32;

// Launches that take one worker less than that, in all, are not shared out.
constexpr double kMostOfOneWorkerUs = 8;

// Work-groups as kernels/chain.cl shares them out: by position, or where there
// are fewer positions than workers, one by one.
struct Groups {
  int64_t x = 1;
  int64_t y = 1;
  int64_t depth = 1;
  int64_t positions = 1;

  int64_t all() const { return depth * positions; }
};

Groups GroupsOf(const ir::KernelLaunch& launch, int workers) {
  const auto [x, y, z] = kernels::ChainGroups(launch.range);
  const int64_t positions = x * y;
  const bool spatial = launch.spatial_partition && positions >= workers;
  return {.x = x,
          .y = y,
          .depth = spatial ? z : 1,
          .positions = spatial ? positions : positions * z};
}

int64_t BytesOf(size_t words) {
  return static_cast<int64_t>(words * sizeof(int32_t));
}

const ir::KernelLaunch& LaunchOf(const ChainLink& link) {
  return std::get<ir::KernelLaunch>(*link.action);
}

// Microseconds that a worker takes for what several could share: none of a
// single work-group.
double OneWorkerUs(const ChainLink& link, const int32_t* row, int workers) {
  if (row[kChainDepth] == 1 && row[kChainPositions] == 1) return 0;
  return link.predicted_us ? *link.predicted_us * workers : kMostOfOneWorkerUs;
}

}  // namespace

int ChainPointers(std::span<const ChainLink> links) {
  int64_t count = 0;
  for (const ChainLink& link : links) {
    for (const int buffer : link.buffers) {
      count = std::max<int64_t>(count, buffer + 1);
    }
  }
  return static_cast<int>(AlignUp(count, 4));
}

Result<std::unique_ptr<PreparedStep>> ChainStep::Create(
    const cl::Context& context, const cl::Program& program,
    const ir::DeviceInfo& info, const ChainSource& source,
    std::span<const ChainLink> links) {
  int code = CL_SUCCESS;
  cl::Kernel kernel(program, "chain", &code);
  TIM_RETURN_IF_CL_ERROR(code, "the kernel of a chain");
  // Workers that wait for a processor would be waited for.
  const int workers = std::min(UsableProcessors(), info.compute_units);
  std::unique_ptr<ChainStep> step(new ChainStep(std::move(kernel), workers));
  step->bound_.resize(ChainPointers(links));
  TIM_RETURN_IF_ERROR(step->FillTable(source, info, links));
  TIM_RETURN_IF_ERROR(
      step->SetFixedArguments(context, info, static_cast<int>(links.size())));
  return std::unique_ptr<PreparedStep>(std::move(step));
}

Status ChainStep::FillTable(const ChainSource& source,
                            const ir::DeviceInfo& info,
                            std::span<const ChainLink> links) {
  table_.resize(links.size() * source.row);
  int64_t total = 0;
  for (size_t i = 0; i < links.size(); ++i) {
    const ir::KernelLaunch& launch = LaunchOf(links[i]);
    TIM_RETURN_IF_ERROR(CheckLimits(launch, info, {}));
    const Groups groups = GroupsOf(launch, workers_);
    total += groups.all();
    if (total > std::numeric_limits<int32_t>::max() / 2) {
      return Unimplemented("a chain of ", total, " work-groups");
    }
    int32_t* row = &table_[i * source.row];
    row[kChainFunction] = source.functions[i];
    row[kChainGroupsX] = static_cast<int32_t>(groups.x);
    row[kChainGroupsY] = static_cast<int32_t>(groups.y);
    row[kChainDepth] = static_cast<int32_t>(groups.depth);
    row[kChainPositions] = static_cast<int32_t>(groups.positions);
    row[kChainBatch] = static_cast<int32_t>(
        std::max<int64_t>(groups.all() / (workers_ * kBatchesOfWorker), 1));
    row[kChainTogether] = 1;
    const size_t first_operand = buffers_.size();
    buffers_.insert(buffers_.end(), links[i].buffers.begin(),
                    links[i].buffers.end());
    FillArguments(launch, first_operand, i * source.row + kChainArguments);
  }
  JoinSmall(links, source.row);
  return OkStatus();
}

// Launches that follow one another and that one worker does in little time:
// waits of workers for each other would take longer.
void ChainStep::JoinSmall(std::span<const ChainLink> links, int words) {
  double joined_us = kMostOfOneWorkerUs;  // from the next launch on
  for (size_t i = links.size(); i-- > 0;) {
    int32_t* row = &table_[i * static_cast<size_t>(words)];
    const double us = OneWorkerUs(links[i], row, workers_);
    const bool joins = joined_us + us < kMostOfOneWorkerUs;
    if (joins) row[kChainTogether] = (row + words)[kChainTogether] + 1;
    joined_us = joins ? joined_us + us : us;
  }
}

void ChainStep::FillArguments(const ir::KernelLaunch& launch,
                              size_t first_operand, size_t word) {
  for (const ir::KernelArg& argument : launch.arguments) {
    if (const auto* tensor = std::get_if<ir::TensorArg>(&argument)) {
      const size_t operand = first_operand + tensor->operand;
      table_[word] = buffers_[operand];
      offsets_.push_back({operand, word + 1, tensor->element_bytes});
    } else if (const auto* real = std::get_if<float>(&argument)) {
      table_[word] = std::bit_cast<int32_t>(*real);
    } else if (const auto* wide = std::get_if<int64_t>(&argument)) {
      table_[word] = static_cast<int32_t>(*wide & 0xffffffff);
      table_[word + 1] = static_cast<int32_t>(*wide >> 32);
    } else if (const auto* word32 = std::get_if<int32_t>(&argument)) {
      table_[word] = *word32;
    } else if (const auto* bits = std::get_if<uint32_t>(&argument)) {
      table_[word] = static_cast<int32_t>(*bits);
    } else if (const auto* fields = std::get_if<ir::StructArg>(&argument)) {
      std::ranges::copy(WordsOf(*fields), table_.begin() + word);
    }
    word += ChainWords(argument);
  }
}

Status ChainStep::SetFixedArguments(const cl::Context& context,
                                    const ir::DeviceInfo& info, int launches) {
  TIM_ASSIGN_OR_RETURN(device_table_,
                       NewBuffer(context, info, BytesOf(table_.size())));
  const size_t counters = (size_t{2} + workers_) * kChainCounterStride;
  std::vector<int32_t> zeros(counters);
  int code = CL_SUCCESS;
  counters_ = cl::Buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                         BytesOf(counters), zeros.data(), &code);
  TIM_RETURN_IF_CL_ERROR(code, "the counters of a chain");
  // Pointers that no operand uses point to something, too.
  for (size_t i = 0; i < bound_.size() && code == CL_SUCCESS; ++i) {
    code = kernel_.setArg(kFirstBuffer + static_cast<int>(i), device_table_);
  }
  if (code == CL_SUCCESS) code = kernel_.setArg(kCounters, counters_);
  if (code == CL_SUCCESS) code = kernel_.setArg(kTable, device_table_);
  if (code == CL_SUCCESS) code = kernel_.setArg(kLaunches, cl_int{launches});
  TIM_RETURN_IF_CL_ERROR(code, "the arguments of a chain");
  return OkStatus();
}

Status ChainStep::SetBuffers(std::span<const BufferRange> operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    TIM_ASSIGN_OR_RETURN(const OpenClRange place, AsOpenCl(operands[i]));
    const int pointer = buffers_[i];
    if (bound_[pointer] == place.buffer->id()) continue;
    bound_[pointer] = 0;
    TIM_RETURN_IF_CL_ERROR(
        kernel_.setArg(kFirstBuffer + pointer, place.handle()), "pointer ",
        pointer, " of a chain");
    bound_[pointer] = place.buffer->id();
  }
  return OkStatus();
}

Status ChainStep::SetOffsets(std::span<const BufferRange> operands) {
  for (const Offset& offset : offsets_) {
    const int64_t bytes = operands[offset.operand].offset;
    const int64_t elements = bytes / offset.element_bytes;
    const int64_t count = operands[offset.operand].bytes / offset.element_bytes;
    if (elements * offset.element_bytes != bytes ||
        !ir::IndicesFit(elements, count)) {
      return TIM_INTERNAL("operand ", offset.operand, " of a chain is at byte ",
                          bytes, ", elements have ", offset.element_bytes);
    }
    int32_t& word = table_[offset.word];
    if (word == static_cast<int32_t>(elements)) continue;
    word = static_cast<int32_t>(elements);
    table_changed_ = true;
  }
  return OkStatus();
}

Status ChainStep::Enqueue(OpenClQueue& queue,
                          std::span<const BufferRange> operands) {
  if (operands.size() != buffers_.size()) {
    return TIM_INTERNAL("a chain needs ", buffers_.size(), " operands, found ",
                        operands.size());
  }
  TIM_RETURN_IF_ERROR(SetBuffers(operands));
  TIM_RETURN_IF_ERROR(SetOffsets(operands));
  if (table_changed_) {
    TIM_RETURN_IF_CL_ERROR(
        queue.Write(device_table_, 0, BytesOf(table_.size()), table_.data()),
        "writing the table of a chain");
    table_changed_ = false;
  }
  TIM_RETURN_IF_CL_ERROR(queue.LaunchChain(kernel_, kBegun, workers_),
                         "launching a chain");
  return OkStatus();
}

}  // namespace tim::device
