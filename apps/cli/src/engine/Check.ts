import { isChatAddress, noChatPolicy } from "@inspo/config"
import { EngineLaws } from "@inspo/engine/testing"
import { Engine, type EngineProfile } from "@inspo/engine"
import { DateTime, Effect, Option, Path } from "effect"
import { commandFailure, usageError } from "../Failure.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as Remote from "./Remote.ts"

export interface CheckInput {
  readonly url: string
  readonly model: Option.Option<string>
  readonly protocol: "tinker" | "completions"
  readonly profile: Remote.RemoteConfig["profile"]
  readonly encoding: Remote.Encoding
  readonly tokenizer: Option.Option<string>
  readonly contextLength: Option.Option<number>
  readonly loraRank: Option.Option<number>
  readonly concurrency: Option.Option<number>
  readonly apiKeyEnv: Option.Option<string>
  readonly tolerance: number
}

/** One law, and why it does not hold, if so. A skipped law does not apply to this engine; `reason` is why. */
interface Finding {
  readonly law: string
  readonly holds: boolean
  readonly skipped: boolean
  readonly reason: string | null
}

/** Checks the laws of an engine against a server and reports its capabilities; fails when a law does not hold. */
export const check = Effect.fn("Check.check")(function* (input: CheckInput) {
  if (!URL.canParse(input.url) || !/^https?:$/u.test(new URL(input.url).protocol))
    return yield* usageError(`The URL is ${input.url}, expected one such as http://127.0.0.1:8765.`)
  if (isChatAddress(input.url, input.protocol === "completions" ? "completions" : input.profile))
    return yield* usageError(`The URL is ${input.url}, expected a server that returns token ids. ${noChatPolicy}`)
  const bounded = [
    ["--concurrency", input.concurrency, 1],
    ["--context-length", input.contextLength, 1],
    ["--lora-rank", input.loraRank, 0],
    ["--tolerance", Option.some(input.tolerance), 0]
  ] as const
  for (const [flag, given, least] of bounded) {
    const value = Option.getOrElse(given, () => least)
    if (value < least) return yield* usageError(`${flag} is ${value}, expected at least ${least}.`)
  }
  const path = yield* Path.Path
  const { findings, profile } = yield* examine(input.tolerance).pipe(
    Effect.provide(
      Remote.layer(
        {
          url: input.url,
          model: Option.getOrNull(input.model),
          tokenizer: Option.match(input.tokenizer, { onNone: () => null, onSome: (folder) => path.resolve(folder) }),
          profile: input.protocol === "completions" ? "completions" : input.profile,
          key: Option.getOrNull(input.apiKeyEnv),
          contextLength: Option.getOrNull(input.contextLength),
          loraRank: Option.getOrNull(input.loraRank),
          concurrency: Option.getOrNull(input.concurrency),
          // Nothing is stored, so any date works.
          date: DateTime.formatIsoDateUtc(yield* DateTime.now)
        },
        { names: flags, encoding: input.encoding }
      )
    )
  )
  const broken = findings.filter(({ holds }) => !holds)
  const document = {
    ok: broken.length === 0,
    engine: profile,
    capabilities: capabilities(profile),
    laws: findings
  }
  yield* Reporter.print(document, () => [
    `${profile.model} on ${profile.name}, context ${profile.contextLength}`,
    ...document.capabilities.map(({ is, name }) => `${is ? "yes     " : "no      "}${name}`),
    ...findings.map(
      ({ holds, law, reason, skipped }) =>
        `${skipped ? "skipped " : holds ? "ok      " : "broken  "}${reason === null ? law : `${law}: ${reason}`}`
    )
  ])
  if (broken.length > 0)
    return yield* commandFailure(`${broken.length} of ${findings.length} laws do not hold at ${input.url}.`)
})

const flags: Remote.Names = {
  url: "URL",
  model: "--model",
  profile: "--profile",
  tokenizer: "--tokenizer",
  contextLength: "--context-length",
  loraRank: "--lora-rank",
  apiKey: "--api-key-env"
}

const examine = Effect.fnUntraced(function* (tolerance: number) {
  const { profile } = yield* Engine
  const findings = yield* Effect.forEach(EngineLaws.laws({ tolerance }), ({ check, name, skipped }) => {
    const reason = skipped(profile)
    return Effect.match(check, {
      onSuccess: (): Finding => ({ law: name, holds: true, skipped: reason !== null, reason }),
      onFailure: ({ reason }): Finding => ({ law: name, holds: false, skipped: false, reason })
    })
  })
  return { profile, findings }
})

/** What servers differ in; a law about a missing capability is skipped. */
const capabilities = (profile: EngineProfile) => [
  { name: "training", is: profile.trains !== false },
  { name: "equal requests give equal samples, bit by bit", is: profile.deterministic },
  { name: "log-probabilities of the base model, which a KL term needs", is: profile.scoresReference !== false },
  {
    name: "a KL term in the loss; else train.kl=advantages folds it into the advantages",
    is: profile.klInLoss !== false
  },
  { name: "checkpoints can be removed", is: profile.removesCheckpoints !== false }
]
