import { type Engine, Stops } from "@inspo/engine"
import { Effect } from "effect"
import type * as Wire from "../../Wire.ts"
import { type Refusal, refuse } from "./Refusal.ts"

/** Where samples end. */
export interface RequestStops {
  /** Those that the engine can watch for itself, so that it need not sample on. */
  readonly texts: ReadonlyArray<string>
  /** How many tokens there are up to and with the first stop, or null where none occurs. */
  readonly end: (tokens: ReadonlyArray<number>) => number | null
}

/**
 * Reads `sampling_params.stop`: texts, which may be of any number of tokens and be within one, or ids of tokens. Cutting a
 * sample where a stop ends gives what stopping there would have given, since no token depends on those after it.
 */
export const read = Effect.fnUntraced(function* (
  stop: Wire.SamplingParams["stop"],
  engine: Engine.Interface
): Effect.fn.Return<RequestStops, Refusal> {
  const { tokenizer } = engine
  const stops = stop === null || stop === undefined ? [] : typeof stop === "string" ? [stop] : stop
  if (stop !== null && stop !== undefined && stops.length === 0)
    return yield* refuse(
      "sampling_params.stop is [], which asks to continue after the end of sequence, expected it left out: this engine ends there"
    )
  const ids = stops.filter((one) => typeof one === "number")
  const texts = stops.filter((one) => typeof one === "string")
  for (const id of ids)
    if (!(id >= 0 && id < tokenizer.vocabularySize))
      return yield* refuse(`sampling_params.stop holds ${id}, expected ids of 0 to ${tokenizer.vocabularySize - 1}`)
  if (texts.includes(""))
    return yield* refuse('sampling_params.stop holds "", expected texts of at least one character')
  const ofIds = ids.flatMap((id) => {
    const text = tokenizer.decode([id])
    const [only, ...rest] = tokenizer.encode(text)
    return id !== tokenizer.endOfSequence && only === id && rest.length === 0 ? [text] : []
  })
  return {
    texts: [...Stops.make(engine).taken(texts), ...(engine.profile.stopTexts === "single-token" ? ofIds : [])],
    end: (tokens) => {
      const atId = tokens.findIndex((token) => ids.includes(token))
      const within = atId < 0 ? tokens : tokens.slice(0, atId + 1)
      return Stops.endOf(within, texts, tokenizer) ?? (atId < 0 ? null : within.length)
    }
  }
})
