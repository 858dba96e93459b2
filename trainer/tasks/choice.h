// Choice among nodes: which of a graph's candidates is the right answer for its slot. Metrics: accuracy and
// cross_entropy, over the graphs that have a slot and a right candidate.
//
// The label fields are those of program graphs: is_slot marks the node that an answer is sought for,
// is_candidate those that may be the answer, is_target the right ones, of which there may be several. The slot
// itself is no candidate. The token of a node is its name.
#ifndef PACKTRAIN_TRAINER_TASKS_CHOICE_H_
#define PACKTRAIN_TRAINER_TASKS_CHOICE_H_

#include <memory>
#include <vector>

#include "trainer/tasks/task.h"

namespace packtrain::trainer {

// A model gives a score for each node. The loss of a graph is -log of the probability, by a softmax over its
// candidates, that one of the right ones is chosen, by Torch's operators alone. The answer is the candidate
// with the best score, the first of several. Beside accuracy stands that of the candidate whose name most
// candidates have, among names other than the slot's; beside cross entropy that of equal scores.
std::unique_ptr<Task> MakeChoiceTask(const std::vector<Target>& unused, KernelForm);

inline constexpr TaskKind kChoice = {.labels = {Input::kCandidates, Input::kTokens}, .create = MakeChoiceTask};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_TASKS_CHOICE_H_
