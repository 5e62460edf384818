import { agentStudies } from "./studies/Agents.ts"
import { agentTraining } from "./studies/AgentTraining.ts"
import { ablations } from "./studies/Ablation.ts"
import { blindStudies } from "./studies/Blind.ts"
import { arena, arenaTuning } from "./studies/Arena.ts"
import { curves } from "./studies/Curves.ts"
import { trainedLetter } from "./studies/Letter.ts"
import { methodStudies } from "./studies/Methods.ts"
import { staticVsEvolved } from "./studies/StaticVsEvolved.ts"
import { table1 } from "./studies/Table1.ts"
import { budgets, together, togetherTuning } from "./studies/Together.ts"
import { plasticity, worldStudies } from "./studies/Worlds.ts"
import type { Study } from "./Study.ts"

/** All studies, in the order of the command line. */
export const studies: ReadonlyArray<Study> = [
  staticVsEvolved,
  table1,
  ablations,
  curves,
  togetherTuning,
  together,
  budgets,
  ...worldStudies,
  plasticity,
  ...agentStudies,
  agentTraining,
  arenaTuning,
  arena,
  ...methodStudies,
  trainedLetter,
  ...blindStudies
]
