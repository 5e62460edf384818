/** The registry of losses: a new one is a file in `losses`, and a line here. */
import { Choice, type Strategy } from "@inspo/domain"
import { Context } from "effect"
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
import type { Sequence, Surrogate as Method } from "./Surrogate.ts"

export type { Sequence, Token } from "./Surrogate.ts"

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
export const named = ({ name: called }: Loss): Method => losses.find(({ name }) => name === called) ?? clip

export interface Interface {
  readonly identity: Strategy.Identity
  /** The coefficient of ∇log π of each token of a sequence. */
  readonly weights: (sequence: Sequence) => ReadonlyArray<number>
  /** The bounds of `clip`, if it is this loss: engines have it themselves. */
  readonly clip: { readonly low: number; readonly high: number } | null
}

/** The loss of the updates of a run. */
export class Surrogate extends Context.Service<Surrogate, Interface>()("@inspo/policy-gradient/Surrogate") {}

/** The loss that a config names. */
export const make = (loss: Loss): Interface => {
  const { name, ...constants } = loss
  const { weights } = named(loss)
  return {
    identity: { name, parameters: { ...constants } },
    weights: (sequence) => weights(sequence, constants),
    clip: loss.name === "clip" && loss.dual === 0 ? { low: loss.low, high: loss.high } : null
  }
}

/** Whether the gradient of a loss moves tokens of advantage 0, once the policy has left the one that sampled them. */
export const pulls = ({ weights }: Pick<Interface, "weights">): boolean =>
  weights({ logprobs: [-1], old: [-2], advantages: [0] }).some((weight) => weight !== 0)
