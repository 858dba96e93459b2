// The rows of a table of filters, for its plain and its fused form.
#ifndef PACKTRAIN_TRAINER_KERNELS_TABLE_ROWS_H_
#define PACKTRAIN_TRAINER_KERNELS_TABLE_ROWS_H_

namespace packtrain::trainer {

// A table has a row for each of so many distances, the first at 0.
inline constexpr int kTableRows = 1024;
inline constexpr float kTableRowsPerAngstrom = 64;
// A filter is the cubic through so many neighbouring rows.
inline constexpr int kCubicRows = 4;

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_TABLE_ROWS_H_
