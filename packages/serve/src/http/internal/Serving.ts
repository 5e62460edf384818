/** What all handlers share: the population of a request, and commands to it. */
import type { Answer } from "@inspo/cohorts"
import { Invariant } from "@inspo/domain"
import { Effect } from "effect"
import type { LivePopulation } from "../../live/LivePopulation.ts"
import type { Populations, Served } from "../../live/Populations.ts"
import type { NotFound } from "../../wire/Errors.ts"
import { ofFailure, type Problem } from "../../wire/internal/Refusals.ts"

/** Answers a request from its population, which spans and log lines name. */
export const on =
  (populations: Populations["Service"]) =>
  <A, E>(name: string, use: (served: Served) => Effect.Effect<A, E>): Effect.Effect<A, E | NotFound> =>
    Effect.andThen(Effect.annotateCurrentSpan({ population: name }), Effect.flatMap(populations.get(name), use)).pipe(
      Effect.annotateSpans({ population: name }),
      Effect.annotateLogs({ population: name })
    )

/** Commits a command and returns its answer. */
export const submit = <Tag extends Answer["_tag"]>(
  live: LivePopulation,
  tag: Tag,
  ...command: Parameters<LivePopulation["submit"]>
): Effect.Effect<Extract<Answer, { readonly _tag: Tag }>, Problem> =>
  Effect.matchEffect(live.submit(...command), {
    onFailure: (failure) => Effect.fail(ofFailure(failure)),
    onSuccess: (answer) => Effect.succeed(expected(answer, tag))
  })

export const expected = <Tag extends Answer["_tag"]>(
  answer: Answer,
  tag: Tag
): Extract<Answer, { readonly _tag: Tag }> => {
  const is = (one: Answer): one is Extract<Answer, { readonly _tag: Tag }> => one._tag === tag
  if (!is(answer)) throw new Invariant.InvariantBroken(`an answer of ${tag}`)
  return answer
}
