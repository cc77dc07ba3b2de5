// Asks the processor for its instructions, and Linux for those that a process
// may not use before it has asked.
#include "device/opencl/driver/host_instructions.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tim::device {
namespace {

#if defined(__x86_64__) && defined(__linux__)
// CPUID leaf 7, EDX.
constexpr unsigned kAmxTile = 1u << 24;
constexpr unsigned kAmxInt8 = 1u << 25;
// asm/prctl.h and asm/fpu/types.h of Linux 5.16 and later; older ones refuse.
constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
constexpr long kTileData = 18;               // XFEATURE_XTILEDATA

bool HasAmx() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  return (edx & kAmxTile) != 0 && (edx & kAmxInt8) != 0;
}

#endif

}  // namespace

#if defined(__x86_64__)
bool HostOrdersStores() { return true; }
bool HostHasVnni() { return __builtin_cpu_supports("avx512vnni") != 0; }
#else
bool HostOrdersStores() { return false; }
bool HostHasVnni() { return false; }
#endif

#if defined(__x86_64__) && defined(__linux__)
bool HostGrantsAmx() {
  return HasAmx() &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#else
bool HostGrantsAmx() { return false; }
#endif

}  // namespace tim::device
