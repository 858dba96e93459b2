// Filters of distances, read off a table between whose rows they are interpolated.
#ifndef PACKTRAIN_TRAINER_KERNELS_TABLE_FILTERS_H_
#define PACKTRAIN_TRAINER_KERNELS_TABLE_FILTERS_H_

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

#include "trainer/kernels/table_rows.h"

namespace packtrain::trainer {

// The distances of the rows in angstrom, [kTableRows, 1], of `options`.
at::Tensor TableDistances(const at::TensorOptions& options);

// [E, C]: at each of `distances` [E, 1] the cubic through the four nearest rows of `table` [kTableRows, C]; 0
// behind the last row. Where the fourth derivative of what the rows were taken from is at most D, a cubic
// is off by up to 3 / 128 D / kTableRowsPerAngstrom^4, or 1 / 24 between the first two rows and the last two. A
// gradient for the table, none for the distances. One form for all devices.
at::Tensor ReadTable(const at::Tensor& table, const at::Tensor& distances);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_TABLE_FILTERS_H_
