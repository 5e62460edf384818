import type { Engine, SampleRequest } from "@inspo/engine"
import { Array as Arr, Effect } from "effect"

/** What a server generated in one session of a run: how many attempts at questions, and their tokens, each once. */
export interface Served {
  readonly begun: number
  /** Attempts that it brought to an answer, and their tokens. */
  readonly finished: { readonly rollouts: number; readonly tokens: number }
  /** Tokens of all attempts. */
  readonly tokens: number
  /** Samples that it made before. */
  readonly repeated: number
}

/** An engine that counts what is sampled from it. */
export interface CountedEngine {
  readonly engine: Engine.Interface
  /** What it counted since it was last asked. */
  readonly take: Effect.Effect<Served>
}

/** Counts what `engine` samples of attempts that search first and answer last. */
export const make = (engine: Engine.Interface): CountedEngine => {
  let turns = new Map<string, Turn>()
  let repeated = 0

  const count = ({ prompt, seed }: SampleRequest, written: ReadonlyArray<number>) => {
    const key = `${seed} ${prompt.join()}`
    if (turns.has(key)) repeated += 1
    const { decode } = engine.tokenizer
    turns.set(key, { prompt: decode(prompt), written: decode(written), tokens: prompt.length + written.length })
  }

  return {
    engine: {
      ...engine,
      sample: (requests) =>
        Effect.map(engine.sample(requests), (results) => {
          for (const [request, { sequences }] of Arr.zip(requests, results))
            for (const { tokens } of sequences) count(request, tokens)
          return results
        })
    },
    take: Effect.sync(() => {
      const served = { ...servedIn([...turns.values()]), repeated }
      turns = new Map()
      repeated = 0
      return served
    })
  }
}

/** A turn; `tokens` are those of its prompt, which holds the turns before it, and its own. */
interface Turn {
  readonly prompt: string
  readonly written: string
  readonly tokens: number
}

const servedIn = (turns: ReadonlyArray<Turn>): Omit<Served, "repeated"> => {
  const first = turns.filter(({ prompt }) => !prompt.includes("<information>"))
  const last = turns.filter(({ written }) => written.includes("<answer>"))
  const unfinished = [...first]
  for (const { prompt } of last) {
    const place = unfinished.findIndex((turn) => prompt.startsWith(turn.prompt + turn.written))
    unfinished.splice(place, 1)
  }
  const finished = { rollouts: last.length, tokens: tokensOf(last) }
  return { begun: first.length, finished, tokens: finished.tokens + tokensOf(unfinished) }
}

const tokensOf = (turns: ReadonlyArray<Turn>): number => turns.reduce((total, { tokens }) => total + tokens, 0)
