import { type RunConfig, staticConfig } from "@inspo/config"
import { ClauseBank } from "@inspo/reflection"
import { single, withBudgetOf } from "../Arm.ts"
import type { Study } from "../Study.ts"
import { evolved, staticArm } from "./Arms.ts"
import * as Banks from "./Banks.ts"

/** Where `pretrain held-out` writes its checkpoint, from the directory that the study runs in. */
const heldOutModel = "runs/held-out"

const withClauses = (config: RunConfig, clauses: ReadonlyArray<ClauseBank.Clause>): RunConfig => ({
  ...config,
  control: { ...config.control, clauses }
})

const withHeldOutModel = (config: RunConfig): RunConfig => ({
  ...config,
  engine: { ...config.engine, model: heldOutModel }
})

const random = (config: RunConfig): RunConfig => ({
  ...config,
  proposer: { ...config.proposer, kind: { name: "random" } }
})

const own = [
  single(
    "evolved-learned",
    "a model pre-trained without the last wording of each clause; proposals from the others",
    (config) => withHeldOutModel(withClauses(config, ClauseBank.parted.learned))
  ),
  single("evolved-held-out", "the same model; proposals from the wordings that were left out", (config) =>
    withHeldOutModel(withClauses(config, ClauseBank.parted.heldOut))
  ),
  withBudgetOf(
    "evolved-held-out",
    "static-held-out",
    "the same model; the seed instruction alone, equal rollouts",
    (config, rollouts) => withHeldOutModel(staticConfig(config, rollouts))
  ),
  single("evolved-unseen", "the shipped model; proposals from wordings that it has never seen", (config) =>
    withClauses(config, Banks.unseen)
  ),
  single("evolved-noisy", "the shipped model and bank with five times as many useless and harmful clauses", (config) =>
    withClauses(config, Banks.noisy)
  ),
  single("random-noisy", "the same bank, drawn from at random", (config) => random(withClauses(config, Banks.noisy)))
]

/** How much does the result depend on a policy that was pre-trained on the proposed clauses? */
export const clauseBanks: Study = {
  name: "clause-banks",
  title: "Clauses that were not in pre-training",
  arms: [evolved, staticArm, ...own],
  main: [],
  comparisons: [
    ["evolved", "static"],
    ["evolved-learned", "static-held-out"],
    ["evolved-held-out", "static-held-out"],
    ["evolved-held-out", "evolved-learned"],
    ["evolved-unseen", "static"],
    ["evolved-unseen", "evolved"],
    ["evolved-noisy", "static"],
    ["evolved-noisy", "evolved"],
    ["evolved-noisy", "random-noisy"],
    ["random-noisy", "static"]
  ],
  notes: [
    "The arms with the model that was pre-trained on a part of the wordings read it from `runs/held-out`. " +
      "`pnpm --filter @inspo/pretrain held-out` writes it."
  ]
}
