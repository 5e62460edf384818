import { Array as Arr } from "effect"
import { InvalidInput, RandomStream } from "@inspo/domain"

/** `step` counts from 1. `size` is the number of training questions, `batchSize` at least 1. */
export interface Request {
  readonly seed: number
  readonly step: number
  readonly batchSize: number
  readonly size: number
}

/**
 * The questions of a step, as indices into the training set.
 *
 * Every epoch shuffles the set again and cuts it into whole batches; the remainder is not used in that epoch. A batch therefore
 * never repeats a question, and is the whole set when `batchSize` exceeds it. Two runs with the same seed get the same
 * questions at the same step, whatever else differs. Without questions the batch is empty. Throws `InvalidInput` on any
 * other number out of range.
 *
 * @example
 * ```ts
 * import { QuestionStream } from "@inspo/sampler"
 *
 * QuestionStream.batch({ seed: 7, step: 1, batchSize: 2, size: 6 }) // e.g. [4, 1]
 * ```
 */
export const batch = (request: Request): ReadonlyArray<number> => {
  InvalidInput.assertCount("QuestionStream.batch", "step", request.step, 1)
  InvalidInput.assertCount("QuestionStream.batch", "batchSize", request.batchSize, 1)
  InvalidInput.assertCount("QuestionStream.batch", "size", request.size, 0)
  if (request.size === 0) return []
  const perEpoch = Math.max(1, Math.floor(request.size / request.batchSize))
  const epoch = Math.floor((request.step - 1) / perEpoch)
  const start = ((request.step - 1) % perEpoch) * request.batchSize
  const order = RandomStream.make(request.seed, ["questions", epoch]).shuffle(Arr.range(0, request.size - 1))
  return order.slice(start, start + request.batchSize)
}

/**
 * The questions of the `round`-th further round of a step, which has none twice: a batch in another random order of all others than
 * those of {@link batch}, or what is left of it.
 */
export const further = (request: Request, round: number): ReadonlyArray<number> => {
  const own = new Set(batch(request))
  const others = Arr.makeBy(request.size, (index) => index).filter((index) => !own.has(index))
  return RandomStream.make(request.seed, ["questions", "further", request.step])
    .shuffle(others)
    .slice((round - 1) * request.batchSize, round * request.batchSize)
}
