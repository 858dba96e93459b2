// Which implementation of an operation runs.
#ifndef PACKTRAIN_TRAINER_KERNELS_KERNEL_FORM_H_
#define PACKTRAIN_TRAINER_KERNELS_KERNEL_FORM_H_

#include <cstdint>

namespace packtrain::trainer {

// kPlain: Torch's operators, on any device and for any floating-point type; what the fused form is held
// against.
//
// kFused: CUDA kernels of ours on the current stream, in packtrain-trainer-cuda alone. They read the real sizes
// on the device, so padding costs next to nothing; equal inputs give equal bits.
enum class KernelForm : std::uint8_t { kPlain, kFused };

// Whether this program is linked with the fused forms. An operation chooses with it at compile time, so that
// packtrain-trainer refers to no CUDA code:
//
//   at::Tensor Double(const at::Tensor& x, KernelForm form) {
//     if constexpr (kHasFusedForms) {
//       if (form == KernelForm::kFused) return FusedDouble(x);
//     }
//     return x * 2;
//   }
#ifdef PACKTRAIN_FUSED_FORMS
inline constexpr bool kHasFusedForms = true;
#else
inline constexpr bool kHasFusedForms = false;
#endif

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_KERNEL_FORM_H_
