/** Draws one instruction for one request, with its probability. Loads no other library, so that it starts at once. */
import * as InvalidInput from "@inspo/domain/InvalidInput"
import * as RandomStream from "@inspo/domain/RandomStream"
import type { Instruction } from "@inspo/domain"

/** How likely an instruction is drawn, in [0, 1]. */
export interface Share {
  readonly id: Instruction.InstructionId
  readonly probability: number
}

/** The shares to draw from. The `path` of `seed` names the draw. */
export interface Request {
  readonly seed: number
  readonly path: RandomStream.StreamPath
  readonly shares: ReadonlyArray<Share>
}

/** Draws from the stream `path` of `seed`, independent of the order of `shares`. Throws `InvalidInput` unless they sum to 1. */
export const choose = ({ path, seed, shares }: Request): Share => {
  const possible = shares.filter(({ probability }) => probability > 0).toSorted(byId)
  const total = possible.reduce((sum, { probability }) => sum + probability, 0)
  const last = possible.at(-1)
  if (last === undefined || !(Math.abs(total - 1) < 1e-9))
    return InvalidInput.refuse({
      where: "Choose",
      field: "shares",
      value: shares,
      expected: "probabilities that sum to 1"
    })
  const point = RandomStream.doubles(RandomStream.streamSeed(seed, path))() * total
  let end = 0
  for (const share of possible) {
    end += share.probability
    if (point < end) return share
  }
  return last
}

const byId = (a: Share, b: Share): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
