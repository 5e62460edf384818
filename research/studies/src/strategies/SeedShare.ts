import { RandomStream } from "@inspo/domain"
import type { Sampler } from "@inspo/sampler"

/**
 * A sampler that asks a share of the questions under the first instruction alone, and the others as another sampler does. The
 * shares that it states are those of that sampler, since a sampler does not know the step where it states them.
 */
export const seedShare = (
  others: Sampler.Interface,
  name: string,
  shareAt: (step: number) => number
): Sampler.Interface => ({
  ...others,
  identity: { name, parameters: { of: others.identity.name } },
  assign: (request) => {
    const [seed] = request.values.toSorted((a, b) => numberOf(a.id) - numberOf(b.id))
    const share = shareAt(request.step)
    return others.assign(request).map((drawn, place) => {
      const stream = RandomStream.make(request.seed, ["seed-share", request.step, place])
      return seed !== undefined && stream.next() < share ? drawn.map(() => seed.id) : drawn
    })
  }
})

/** The instructions of a run are numbered in the order of their birth. */
const numberOf = (id: string): number => Number(id.slice(1))
