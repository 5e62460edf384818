/** How a program of another optimizer asks for its trials, one JSON document a line in each direction. */
import { Option, Schema } from "effect"
import type { Outcome } from "./Outcome.ts"
import type { Settings } from "./Rivals.ts"
import * as Trial from "./Trial.ts"
import * as World from "./World.ts"

const Request = Schema.Union([
  /** The next trial; `null` after the last. */
  Schema.Struct({ do: Schema.Literal("next") }),
  /** Asks the agent about a case; `null` once the calls of the budget are made. */
  Schema.Struct({ do: Schema.Literal("ask"), prompt: Schema.String, case: Schema.Int }),
  /** Revisions of `parent` by what `request` shows, `count` of them. */
  Schema.Struct({
    do: Schema.Literal("propose"),
    parent: Schema.String,
    request: Schema.String,
    count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))
  }),
  /** Ends the trial with the prompt that the optimizer returns. */
  Schema.Struct({ do: Schema.Literal("return"), prompt: Schema.String })
])

const decode = Schema.decodeOption(Schema.fromJsonString(Request))

/** A trial that is to be run, and what is to be done with its outcome. */
export interface Due {
  readonly world: World.World
  readonly settings: Settings
  readonly budget: Trial.Budget
  readonly keep: (outcome: Outcome) => void
}

/** Answers the requests of a program, a line at a time. Throws on a line that is not a request, and on requests out of order. */
export const serve = (due: ReadonlyArray<Due>): ((line: string) => unknown) => {
  const waiting = [...due]
  let current: { readonly due: Due; readonly trial: Trial.Trial } | null = null
  return (line) => {
    const request = Option.getOrThrowWith(decode(line), () => new SyntaxError(`not a request: ${line}`))
    if (request.do === "next") {
      const next = waiting.shift()
      current = next === undefined ? null : { due: next, trial: Trial.open(next.world, next.budget) }
      return next === undefined ? null : { ...next.budget, prompt: World.seedPrompt, settings: next.settings }
    }
    if (current === null) throw new RangeError(`${request.do} without a trial; send next first`)
    const { trial } = current
    switch (request.do) {
      case "ask": {
        const answer = trial.ask(request.prompt, request.case)
        return answer === null ? null : trial.score(answer)
      }
      case "propose":
        return trial.propose(request.parent, request.request, request.count)
      case "return": {
        const { keep, world } = current.due
        const gain = Trial.gainOf(world, request.prompt)
        keep({
          verdict: null,
          prompt: request.prompt,
          gain,
          finalist: null,
          covered: null,
          tried: null,
          ...trial.counts()
        })
        current = null
        return true
      }
    }
  }
}
