#include "tests/support/test_launcher.h"

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>
#include <algorithm>
#include <map>
#include <utility>

#include "kernels/kernel_sources.h"

namespace tim::testing {
namespace {

// Whole cache lines, so that operands are aligned and never at offset 0.
constexpr size_t kGuard = 256;
constexpr auto kGuardByte = std::byte{0xC3};

struct OpenCl {
  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
  std::map<std::pair<std::string, std::string>, cl::Program> programs;
  ir::DeviceInfo info;
};

ir::DeviceInfo Describe(const cl::Device& device) {
  ir::DeviceInfo info;
  info.kind = "opencl";
  info.name = device.getInfo<CL_DEVICE_NAME>();
  info.vendor = device.getInfo<CL_DEVICE_VENDOR>();
  info.driver = device.getInfo<CL_DRIVER_VERSION>();
  const bool gpu = device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_GPU;
  info.device_class = gpu ? ir::DeviceClass::kGpu : ir::DeviceClass::kCpu;
  info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  info.max_work_group_size = device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
  const auto sizes = device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>();
  info.max_work_item_sizes.assign(sizes.begin(), sizes.end());
  info.local_memory_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  info.global_memory_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info.max_allocation_bytes = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info.unified_memory = !gpu;
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  info.has_fp16 = extensions.find("cl_khr_fp16") != std::string::npos;
  info.has_fp64 = extensions.find("cl_khr_fp64") != std::string::npos;
  info.float_vector_width =
      device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>();
  info.gflops = 100;
  return info;
}

OpenCl MakeOpenCl() {
  OpenCl cl;
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    if (devices.empty()) continue;
    cl.device = devices[0];
    cl.context = cl::Context(cl.device);
    cl.queue = cl::CommandQueue(cl.context, cl.device);
    cl.info = Describe(cl.device);
    break;
  }
  return cl;
}

OpenCl& TheOpenCl() {
  static OpenCl cl = MakeOpenCl();
  return cl;
}

Status Check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return OkStatus();
  return Status(StatusCode::kInternal,
                StrCat(what, " fails with OpenCL error ", code));
}

Result<cl::Program> BuildProgram(const ir::KernelLaunch& launch) {
  OpenCl& cl = TheOpenCl();
  const char* text = launch.source.empty()
                         ? launch.text.c_str()
                         : kernels::FindSource(launch.source.c_str());
  if (text == nullptr) return NotFound("no kernel source ", launch.source);
  auto& entry = cl.programs[{text, launch.options}];
  if (entry() != nullptr) return entry;
  cl::Program program(cl.context, text);
  const std::string options =
      "-cl-std=CL1.2 -cl-kernel-arg-info -Werror " + launch.options;
  if (program.build(cl.device, options.c_str()) != CL_SUCCESS) {
    return BuildFailure(
        launch.source, " with ", options, ":\n",
        std::string(program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(cl.device)));
  }
  entry = program;
  return program;
}

// Operands in device memory, each between guards.
class Operands {
 public:
  Status Upload(const std::vector<LaunchOperand>& operands) {
    OpenCl& cl = TheOpenCl();
    for (const LaunchOperand& operand : operands) {
      std::vector<std::byte> image(2 * kGuard + operand.bytes->size(),
                                   kGuardByte);
      std::copy(operand.bytes->begin(), operand.bytes->end(),
                image.begin() + kGuard);
      cl_int code = CL_SUCCESS;
      buffers_.emplace_back(cl.context, CL_MEM_READ_WRITE, image.size(),
                            nullptr, &code);
      TIM_RETURN_IF_ERROR(Check(code, "allocating an operand"));
      TIM_RETURN_IF_ERROR(
          Check(cl.queue.enqueueWriteBuffer(buffers_.back(), CL_TRUE, 0,
                                            image.size(), image.data()),
                "writing an operand"));
    }
    return OkStatus();
  }

  Status Download(const std::vector<LaunchOperand>& operands) {
    for (size_t i = 0; i < operands.size(); ++i) {
      std::vector<std::byte>& bytes = *operands[i].bytes;
      std::vector<std::byte> image(2 * kGuard + bytes.size());
      TIM_RETURN_IF_ERROR(
          Check(TheOpenCl().queue.enqueueReadBuffer(buffers_[i], CL_TRUE, 0,
                                                    image.size(), image.data()),
                "reading an operand"));
      const auto guard = [](std::byte byte) { return byte == kGuardByte; };
      if (!std::all_of(image.begin(), image.begin() + kGuard, guard) ||
          !std::all_of(image.end() - kGuard, image.end(), guard)) {
        return InvalidArgument("the kernel writes outside of operand ", i);
      }
      const auto first = image.begin() + kGuard;
      if (!operands[i].written &&
          !std::equal(bytes.begin(), bytes.end(), first)) {
        return InvalidArgument("the kernel changes its input operand ", i);
      }
      std::copy(first, image.end() - kGuard, bytes.begin());
    }
    return OkStatus();
  }

  cl::Buffer& operator[](int index) { return buffers_[index]; }

 private:
  std::vector<cl::Buffer> buffers_;
};

Status SetArguments(const ir::KernelLaunch& launch, Operands* operands,
                    cl::Kernel* kernel) {
  cl_uint at = 0;
  cl_int code = CL_SUCCESS;
  for (const ir::KernelArg& argument : launch.arguments) {
    const cl_uint first = at;
    if (const auto* tensor = std::get_if<ir::TensorArg>(&argument)) {
      const auto offset =
          static_cast<cl_int>(static_cast<int>(kGuard) / tensor->element_bytes);
      code = kernel->setArg(at++, (*operands)[tensor->operand]);
      if (code == CL_SUCCESS) code = kernel->setArg(at++, offset);
    } else if (const auto* local = std::get_if<ir::LocalArg>(&argument)) {
      code = kernel->setArg(at++, local->bytes, nullptr);
    } else {
      std::visit(
          [&](const auto& value) {
            code = kernel->setArg(at++, sizeof(value), &value);
          },
          argument);
    }
    if (code != CL_SUCCESS) {
      return InvalidArgument("parameter ", first, " of ", launch.function,
                             " does not take its argument (OpenCL error ", code,
                             ")");
    }
  }
  const cl_uint count = kernel->getInfo<CL_KERNEL_NUM_ARGS>();
  if (at == count) return OkStatus();
  return InvalidArgument(launch.function, " has ", count,
                         " parameters, the launch gives ", at);
}

cl::NDRange Range(const std::array<int64_t, 3>& sizes, int dimensions) {
  if (dimensions == 1) return cl::NDRange(sizes[0]);
  if (dimensions == 2) return cl::NDRange(sizes[0], sizes[1]);
  return cl::NDRange(sizes[0], sizes[1], sizes[2]);
}

}  // namespace

const ir::DeviceInfo& TestDevice() { return TheOpenCl().info; }

Status RunLaunch(const ir::KernelLaunch& launch,
                 const std::vector<LaunchOperand>& operands) {
  if (TheOpenCl().device() == nullptr) return NotFound("no OpenCL device");
  TIM_ASSIGN_OR_RETURN(const cl::Program program, BuildProgram(launch));
  cl_int code = CL_SUCCESS;
  cl::Kernel kernel(program, launch.function.c_str(), &code);
  TIM_RETURN_IF_ERROR(Check(code, launch.function.c_str()));
  Operands memory;
  TIM_RETURN_IF_ERROR(memory.Upload(operands));
  TIM_RETURN_IF_ERROR(SetArguments(launch, &memory, &kernel));
  const cl::NDRange local = launch.local[0] == 0
                                ? cl::NullRange
                                : Range(launch.local, launch.dimensions);
  cl::CommandQueue& queue = TheOpenCl().queue;
  TIM_RETURN_IF_ERROR(Check(queue.enqueueNDRangeKernel(
                                kernel, cl::NullRange,
                                Range(launch.global, launch.dimensions), local),
                            launch.function.c_str()));
  TIM_RETURN_IF_ERROR(Check(queue.finish(), launch.function.c_str()));
  return memory.Download(operands);
}

}  // namespace tim::testing
