import type { RunEvent } from "@inspo/coevolution"
import { Instruction, Question, Trajectory } from "@inspo/domain"

export const text =
  "Answer the question. Put a query between <search> and </search> to look things up. Put the final answer between " +
  "<answer> and </answer>. Search for one entity at a time."

export const instruction = (index: number, fields: Partial<Instruction.Instruction> = {}): Instruction.Instruction => ({
  id: Instruction.InstructionId.make(`i${index}`),
  text,
  generation: 1,
  parent: null,
  origin: "proposed",
  bornAt: 15,
  ...fields
})

export const group = (reward: number, toolCalls: number, index = 0) => ({
  instructionId: Instruction.InstructionId.make("i0"),
  questionId: Question.QuestionId.make(`q${index}`),
  dataSource: "world-2hop",
  rewards: [reward] as const,
  trajectories: [Trajectory.TrajectoryId.make(`t${index}`)] as const,
  toolCalls: [toolCalls] as const,
  promptTokens: 40,
  responseTokens: [60] as const
})

export const pruned: RunEvent = {
  _tag: "Pruned",
  step: 15,
  pruned: [2, 3, 4].map((index) => ({ id: instruction(index).id, value: index / 10, reason: "bottom-half" })),
  kept: [instruction(0).id, instruction(1).id]
}

export const refilled: Extract<RunEvent, { readonly _tag: "PopulationRefilled" }> = {
  _tag: "PopulationRefilled",
  step: 15,
  parents: [instruction(1).id],
  replaced: [],
  accepted: [5, 6].map((index) => ({ instruction: instruction(index), mean: 0.5, questions: 16, verdict: "passed" })),
  shortfall: 2
}

export const skipped: RunEvent = { _tag: "EvolutionSkipped", step: 15, reason: "i1 has no failures to learn from" }
