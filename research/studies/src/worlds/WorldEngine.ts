import {
  type CheckpointRef,
  Engine,
  EngineError,
  type EngineProfile,
  type SampledSequence,
  type SampleRequest,
  type Sequence,
  type Tokenizer,
  type TrainMetrics,
  type TrainRequest
} from "@inspo/engine"
import { RandomStream } from "@inspo/domain"
import { Array as Arr, Effect, FileSystem, Layer, Schema } from "effect"
import { createHash } from "node:crypto"
import { clauses, type Place, type Word, words, type World } from "./World.ts"

/** Logits of the words by place, and what each piece of advice adds to them: all that training changes. */
const Policy = Schema.Record(Schema.String, Schema.Array(Schema.Finite))
type Policy = typeof Policy.Type

const decode = Schema.decodeEffect(Schema.fromJsonString(Policy))

/**
 * An engine whose policy is the table of a world, for the loop of a run. Prompts are read as characters; an answer is one or two
 * words. Training is gradient descent on GRPO's loss, of which a share is learned by the advice in the prompt.
 */
export const layer = (
  world: World,
  { checkpoints, policy: initial }: { readonly checkpoints: string; readonly policy: string | null }
): Layer.Layer<Engine, EngineError, FileSystem.FileSystem> =>
  Layer.effect(
    Engine,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const failed = (operation: EngineError["operation"]) => (cause: { readonly message: string }) =>
        new EngineError({ operation, reason: cause.message, cause })
      const read = (file: string, operation: EngineError["operation"]) =>
        fs.readFileString(file).pipe(Effect.flatMap(decode), Effect.mapError(failed(operation)))
      const first = tableOf(world)
      let policy = initial === null ? first : yield* read(initial, "start")
      const reference = policy
      return {
        profile: { ...profile, fingerprint: hashOf(policy) },
        tokenizer,
        sample: (requests) =>
          Effect.sync(() =>
            requests.map((request) => ({
              sequences: Arr.makeBy(request.n, (index) => sampleOne(policy, request, index))
            }))
          ),
        train: (request) =>
          Effect.sync(() => {
            const { metrics, policy: stepped } = step(world, policy, reference, request)
            policy = stepped
            return metrics
          }),
        score: (which, sequences) =>
          Effect.sync(() => sequences.map((sequence) => scoreOf(which === "current" ? policy : reference, sequence))),
        save: (name): Effect.Effect<CheckpointRef, EngineError> =>
          fs
            .makeDirectory(checkpoints, { recursive: true })
            .pipe(
              Effect.andThen(fs.writeFileString(`${checkpoints}/${name}`, JSON.stringify(policy))),
              Effect.mapError(failed("save")),
              Effect.as({ uri: name, hash: hashOf(policy) })
            ),
        restore: ({ uri }) =>
          Effect.map(read(`${checkpoints}/${uri}`, "restore"), (saved) => {
            policy = saved
          }),
        remove: ({ uri }) => Effect.mapError(fs.remove(`${checkpoints}/${uri}`, { force: true }), failed("remove"))
      }
    })
  )

const hashOf = (policy: Policy): string => createHash("sha256").update(JSON.stringify(policy)).digest("hex")

const endOfSequence = words.length

/** Ids of characters follow those of the words and of the end. */
const firstCharacter = words.length + 1

const profile: Omit<EngineProfile, "fingerprint"> = {
  name: "world",
  model: "a table",
  parameters: words.length * (2 + 2 * clauses.length),
  contextLength: 2048,
  concurrency: 64,
  clipHigh: true,
  deterministic: true
}

const characters = (text: string): ReadonlyArray<number> =>
  Array.from(text, (character) => firstCharacter + Math.min(character.charCodeAt(0), 255))

const textOf = (token: number): string =>
  token < words.length
    ? (words[token] ?? "")
    : token === endOfSequence
      ? ""
      : String.fromCharCode(token - firstCharacter)

const tokenizer: Tokenizer = {
  vocabularySize: firstCharacter + 256,
  endOfSequence,
  encode: characters,
  decode: (tokens) => tokens.map(textOf).join(""),
  render: (messages) => messages.map(({ content }) => content).join("\n"),
  prompt: (messages) => characters(messages.map(({ content }) => content).join("\n"))
}

const impossible = -1e9

const row = (logits: Partial<Record<Word, number>>, missing: number): ReadonlyArray<number> =>
  words.map((word) => logits[word] ?? missing)

const places: ReadonlyArray<Place> = ["start", "prepared"]

const adviceRow = (text: string, place: Place): string => `${place}: ${text}`

const tableOf = ({ advice, base }: World): Policy => ({
  ...Object.fromEntries(places.map((place) => [place, row(base[place], impossible)])),
  ...Object.fromEntries(
    clauses.flatMap(({ id }) => places.map((place) => [adviceRow(id, place), row(advice[id]?.[place] ?? {}, 0)]))
  )
})

/** The rows of a prompt that add up, the one of the place first. */
const rowsOf = (prompt: ReadonlyArray<number>): ((place: Place) => ReadonlyArray<string>) => {
  const text = tokenizer.decode(prompt)
  const given = clauses.filter(({ id }) => text.includes(id))
  return (place) => [place, ...given.map(({ id }) => adviceRow(id, place))]
}

const logprobs = (policy: Policy, rows: ReadonlyArray<string>): ReadonlyArray<number> => {
  const logits = words.map((_, word) => rows.reduce((sum, name) => sum + (policy[name]?.[word] ?? 0), 0))
  const highest = Math.max(...logits)
  const total = highest + Math.log(logits.reduce((sum, one) => sum + Math.exp(one - highest), 0))
  return logits.map((one) => one - total)
}

const placeAt = (at: number): Place => (at === 0 ? "start" : "prepared")

const endsAnswer = (token: number): boolean => textOf(token).endsWith("</answer>")

const scoreOf = (policy: Policy, { prompt, response }: Sequence): ReadonlyArray<number> => {
  const rows = rowsOf(prompt)
  return response.map((token, at) => logprobs(policy, rows(placeAt(at)))[token] ?? 0)
}

const sampleOne = (
  policy: Policy,
  { maxTokens, prompt, seed, temperature }: SampleRequest,
  index: number
): SampledSequence => {
  const stream = RandomStream.fromText(`${seed}/${index}`)
  const rows = rowsOf(prompt)
  const tokens: Array<number> = []
  const drawn: Array<number> = []
  while (tokens.length < Math.min(2, maxTokens) && !tokens.some(endsAnswer)) {
    const distribution = logprobs(policy, rows(placeAt(tokens.length)))
    const weights = distribution.map((one) => Math.exp(one / Math.max(temperature, 1e-3)))
    let left = stream.next() * weights.reduce((sum, weight) => sum + weight, 0)
    const found = weights.findIndex((weight) => (left -= weight) < 0)
    const token = found < 0 ? 0 : found
    tokens.push(token)
    drawn.push(distribution[token] ?? 0)
  }
  return { tokens, logprobs: drawn, stopReason: tokens.some(endsAnswer) ? "stop" : "length" }
}

/** A step of gradient descent: what is shared between prompts is learned by the row of the place, the rest by those of the advice. */
const step = (
  { bound }: World,
  policy: Policy,
  reference: Policy,
  { datums, loss, optimizer }: TrainRequest
): { readonly policy: Policy; readonly metrics: TrainMetrics } => {
  const gradients = new Map<string, Array<number>>()
  let [kl, total] = [0, 0]
  for (const datum of datums) {
    const rows = rowsOf(datum.prompt)
    const anchor = scoreOf(reference, datum)
    for (const [at, token] of datum.response.entries()) {
      const weight = datum.weights[at] ?? 0
      if (weight === 0) continue
      const names = rows(placeAt(at))
      const current = logprobs(policy, names)
      const own = current[token] ?? 0
      const ratio = Math.exp(own - (datum.logprobs[at] ?? 0))
      const gap = (anchor[at] ?? 0) - own
      const advantage = datum.advantages[at] ?? 0
      const clipped = advantage > 0 ? ratio > 1 + (loss.clipHigh ?? loss.clipRatio) : ratio < 1 - loss.clipRatio
      kl += weight * (Math.exp(gap) - gap - 1)
      total += weight
      const slope = weight * ((clipped ? 0 : -ratio * advantage) + loss.klCoefficient * (1 - Math.exp(gap)))
      for (const [index, name] of names.entries()) {
        const share = names.length === 1 ? 1 : index === 0 ? 1 - bound : bound / (names.length - 1)
        const gradient = gradients.get(name) ?? words.map(() => 0)
        gradients.set(
          name,
          gradient.map((sum, word) => sum + share * slope * ((word === token ? 1 : 0) - Math.exp(current[word] ?? 0)))
        )
      }
    }
  }
  const norm = Math.hypot(...[...gradients.values()].flat())
  return {
    policy: Object.fromEntries(
      Object.entries(policy).map(([name, logits]) => [
        name,
        logits.map((logit, word) => logit - optimizer.learningRate * (gradients.get(name)?.[word] ?? 0))
      ])
    ),
    metrics: {
      loss: 0,
      kl: total === 0 ? 0 : kl / total,
      clipFraction: 0,
      gradientNorm: norm,
      tokens: datums.reduce((sum, { weights }) => sum + weights.filter((weight) => weight !== 0).length, 0)
    }
  }
}
