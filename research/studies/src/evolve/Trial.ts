import { RandomStream } from "@inspo/domain"
import * as Scripted from "./ScriptedProposer.ts"
import * as World from "./World.ts"

export interface Budget {
  /** The most calls of the agent. */
  readonly calls: number
  readonly cases: number
  readonly seed: number
}

export interface Trial {
  /** Asks the agent about a case; null once the calls of the budget are made. */
  readonly ask: (prompt: string, id: number) => World.Answer | null
  /** Scores an answer, with a new judgement and a new hint each time. */
  readonly score: (answer: World.Answer) => { readonly score: number; readonly feedback: string }
  /** Revisions of a prompt by what a request shows. */
  readonly propose: (parent: string, request: string, count: number) => ReadonlyArray<string>
  readonly counts: () => { readonly calls: number; readonly requests: number; readonly candidates: number }
}

export const open = (world: World.World, { calls, seed }: Budget): Trial => {
  const agent = World.open(world, calls, seed)
  const stream = RandomStream.make(seed, ["proposer"])
  const counts = { calls: 0, requests: 0, candidates: 0 }
  const judged = new Map<string, number>()
  return {
    ask: (prompt, id) => {
      if (counts.calls >= calls) return null
      counts.calls += 1
      return agent.answer(prompt, id)
    },
    score: (answer) => {
      const key = JSON.stringify(answer)
      const nth = judged.get(key) ?? 0
      judged.set(key, nth + 1)
      return agent.judge(answer, nth)
        ? { score: 1, feedback: "The label is right." }
        : { score: 0, feedback: Scripted.hint(world.effects, answer.prompt, stream) }
    },
    propose: (parent, request, count) => {
      counts.requests += 1
      counts.candidates += count
      return Scripted.revise(parent, request, count, stream)
    },
    counts: () => ({ ...counts })
  }
}

/** What became of a run in truth. The gains are those of true values over the original prompt. */
export const gainOf = (world: World.World, prompt: string): number =>
  World.valueOf(world, prompt) - World.valueOf(world, World.seedPrompt)

/** The largest gain that the bank allows. */
export const available = (world: World.World): number => gainOf(world, World.bestOf(world))
