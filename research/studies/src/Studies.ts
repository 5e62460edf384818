import { ablations } from "./studies/Ablation.ts"
import { clauseBanks } from "./studies/ClauseBanks.ts"
import { curves } from "./studies/Curves.ts"
import { frozenStudies } from "./studies/Frozen.ts"
import { trainedLetter } from "./studies/Letter.ts"
import { methodStudies } from "./studies/Methods.ts"
import { proposers } from "./studies/Proposers.ts"
import { sensitivity } from "./studies/Sensitivity.ts"
import { staticVsEvolved } from "./studies/StaticVsEvolved.ts"
import { table1 } from "./studies/Table1.ts"
import { tuning } from "./studies/Tuning.ts"
import { whenItPays } from "./studies/WhenItPays.ts"
import type { Study } from "./Study.ts"

/** All studies, in the order of the command line. */
export const studies: ReadonlyArray<Study> = [
  staticVsEvolved,
  table1,
  ablations,
  proposers,
  sensitivity,
  curves,
  whenItPays,
  clauseBanks,
  tuning,
  ...methodStudies,
  ...frozenStudies,
  trainedLetter
]
