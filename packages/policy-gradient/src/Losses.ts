/** The registry of losses: a new one is a file in `losses`, and a line here. */
import { Choice } from "@inspo/domain"
import { cispo } from "./losses/Cispo.ts"
import { clip } from "./losses/Clip.ts"
import { clipTrajectory, clipTurn } from "./losses/ClipRun.ts"
import { dppoTv } from "./losses/DppoTv.ts"
import { dro } from "./losses/Dro.ts"
import { fipo } from "./losses/Fipo.ts"
import { gmpo } from "./losses/Gmpo.ts"
import { gspo } from "./losses/Gspo.ts"
import { icpo } from "./losses/Icpo.ts"
import { importanceSampling } from "./losses/ImportanceSampling.ts"
import { luspo } from "./losses/Luspo.ts"
import { ratioVariance } from "./losses/RatioVariance.ts"
import { reinforce } from "./losses/Reinforce.ts"
import { sapo } from "./losses/Sapo.ts"
import { topr } from "./losses/Topr.ts"
import { truncated } from "./losses/Truncated.ts"
import { vespo } from "./losses/Vespo.ts"

import type { Surrogate } from "./Surrogate.ts"

export type { Sequence, Surrogate, Token } from "./Surrogate.ts"

/** Every loss, the clipped surrogate first. */
export const losses = [
  clip,
  clipTurn,
  clipTrajectory,
  importanceSampling,
  reinforce,
  cispo,
  gspo,
  luspo,
  gmpo,
  sapo,
  dppoTv,
  vespo,
  topr,
  truncated,
  dro,
  fipo,
  ratioVariance,
  icpo
] as const

/** The loss of an update. */
export const Loss = Choice.of(
  losses,
  "The loss of an update: `clip` is Eq. 2, whose bounds are `train.loss.low` and `train.loss.high`, and a `dual` above 0 is the " +
    "dual clip; docs/reference/methods.md has the formulas of all"
)
export type Loss = typeof Loss.Type

/** The loss of a config. */
export const named = ({ name: called }: Loss): Surrogate => losses.find(({ name }) => name === called) ?? clip

/** Whether the gradient of a loss moves tokens of advantage 0, once the policy has left the one that sampled them. */
export const pulls = (loss: Loss): boolean => {
  const { name: _, ...constants } = loss
  return named(loss)
    .weights({ logprobs: [-1], old: [-2], advantages: [0] }, constants)
    .some((weight) => weight !== 0)
}
