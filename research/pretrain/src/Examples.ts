import { World, WorldQuestion } from "@inspo/datasets"
import { SeededRandom } from "@inspo/domain"
import type { Tokenizer } from "@inspo/engine"
import { Search, type SearchError } from "@inspo/retrieval"
import { make as makeBm25 } from "@inspo/retrieval/Bm25"
import { defaultConfig, Prompt } from "@inspo/rollout"
import { Array, Effect, Random, type Scope } from "effect"
import * as Behaviours from "./Behaviours.ts"
import { demonstrate, type Segment } from "./Demonstration.ts"
import * as Instructions from "./Instructions.ts"
import { exercise } from "./Reading.ts"

/** A training sequence: `weights` is parallel to `tokens`, 1 for tokens that the demonstrator wrote, else 0. */
export interface Example {
  readonly tokens: ReadonlyArray<number>
  readonly weights: ReadonlyArray<number>
}

/** How examples are drawn. */
export const defaultOptions = {
  worlds: 200,
  /** Share of reading exercises; the others are demonstrations. */
  readingShare: 0.35,
  mix: { oneHop: 0.25, twoHop: 0.25, threeHop: 0.15, fourHop: 0.15, comparison: 0.2 },
  rates: Behaviours.defaultRates,
  /** Longer examples are drawn again. */
  maxTokens: 320
}
export type Options = typeof defaultOptions & { readonly seed: number }

/** Examples without end; the batch of a step depends only on the options and the step. */
export interface Examples {
  readonly batch: (step: number, size: number) => Effect.Effect<ReadonlyArray<Example>, SearchError>
}

/** Generates the worlds and their indexes, which close with the scope. */
export const make = Effect.fn("Examples.make")(function* (
  tokenizer: Tokenizer,
  options: Options
): Effect.fn.Return<Examples, World.WorldError | SearchError, Scope.Scope> {
  const grounds = yield* Effect.forEach(Array.range(1, options.worlds), (index) =>
    makeGround(-(options.seed * worldStride + index))
  )
  const example: Effect.Effect<Example, SearchError> = Effect.gen(function* () {
    const ground = yield* Random.choice(grounds)
    if ((yield* Random.next) < options.readingShare) return join(tokenizer, [], yield* exercise(ground.world))
    const puzzle = yield* drawPuzzle(ground, yield* drawKind(options.mix))
    const question = yield* WorldQuestion.word(puzzle, "example")
    const instruction = yield* Instructions.draw
    const behaviours = yield* Behaviours.draw(instruction, options.rates)
    const segments = yield* Effect.provideService(
      demonstrate(ground.world, question, behaviours),
      Search,
      ground.search
    )
    return join(tokenizer, Prompt.render(tokenizer, { text: instruction }, question, defaultConfig), segments)
  })
  const fitting = Effect.repeat(example, { until: ({ tokens }) => tokens.length <= options.maxTokens })
  return {
    batch: (step, size) =>
      Effect.all(Array.replicate(fitting, size)).pipe(SeededRandom.withStream(options.seed, ["batch", step]))
  }
})

/** The tokens of prompt and segments, exactly as in a rollout. */
const join = (tokenizer: Tokenizer, prompt: ReadonlyArray<number>, segments: ReadonlyArray<Segment>): Example => {
  const parts = segments.map(({ text, action }) => ({ tokens: tokenizer.encode(text), action }))
  return {
    tokens: [prompt, ...parts.map((part) => part.tokens)].flat(),
    weights: [prompt.map(() => 0), ...parts.map((part) => part.tokens.map(() => (part.action ? 1 : 0)))].flat()
  }
}

/** A world ready to draw examples from. */
interface Ground {
  readonly world: World.World
  readonly search: Search.Interface
  /** By kind, then by the last relation. */
  readonly puzzles: ReadonlyMap<WorldQuestion.Kind, ReadonlyArray<ReadonlyArray<WorldQuestion.Puzzle>>>
}

const makeGround = Effect.fnUntraced(function* (seed: number) {
  const world = yield* World.make(seed)
  const search = yield* makeBm25(World.passages(world))
  const sample = (kind: WorldQuestion.Kind) =>
    Random.shuffle(WorldQuestion.puzzles(world, kind)).pipe(
      Effect.map(Array.groupBy((puzzle) => puzzle.facts.at(-1)?.relation ?? "")),
      Effect.map((groups) => Object.values(groups).map(Array.take(puzzlesPerGroup))),
      SeededRandom.withStream(seed, ["puzzles", kind])
    )
  const puzzles = yield* Effect.forEach(WorldQuestion.kinds, (kind) =>
    Effect.map(sample(kind), (groups) => [kind, groups] as const)
  )
  return { world, search, puzzles: new Map(puzzles) } satisfies Ground
})

/** Draws a relation first, so that rare relations are as frequent as others. */
const drawPuzzle = (ground: Ground, kind: WorldQuestion.Kind) =>
  // A world of default size has puzzles of every kind.
  Effect.orDie(Effect.flatMap(Random.choice(ground.puzzles.get(kind) ?? []), Random.choice))

const drawKind = Effect.fnUntraced(function* (mix: WorldQuestion.Mix) {
  const total = WorldQuestion.kinds.reduce((sum, kind) => sum + mix[kind], 0)
  let rest = total * (yield* Random.next)
  for (const kind of WorldQuestion.kinds) {
    rest -= mix[kind]
    if (rest < 0) return kind
  }
  return "oneHop"
})

// Enough that examples rarely repeat, and few enough that hundreds of worlds fit in memory.
const puzzlesPerGroup = 60

// Runs share no worlds with each other, nor with users, whose seeds are not negative.
const worldStride = 1_000_000
