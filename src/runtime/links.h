// Links between devices, measured.
#ifndef TIM_RUNTIME_LINKS_H_
#define TIM_RUNTIME_LINKS_H_

#include <string>

#include "base/status.h"
#include "compiler/links.h"
#include "device/device.h"

namespace tim::runtime {

/// Links of all pairs of the devices, [0] the host: between the host and each,
/// and between devices of one domain.  Bytes between other pairs go through the
/// host.
/// \param store where measurements are kept; null: nothing is measured, and
///     figures are assumed.  A pair that cannot be measured costs a warning.
/// Any thread; others wait meanwhile.
compiler::LinkTable LinksOf(const device::Devices& devices,
                            device::BinaryStore* store);

/// The same, measured now in place of what is kept; the first failure.
Status MeasureLinksAnew(const device::Devices& devices,
                        device::BinaryStore& store);

/// Links that this process has measured or found, as tim::devices tells them.
std::string KnownLinksAsJson();

}  // namespace tim::runtime

#endif  // TIM_RUNTIME_LINKS_H_
