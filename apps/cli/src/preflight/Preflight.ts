/** Whether every server that a run needs is available, before anything is started or paid for. */
import { asksModel } from "@inspo/coevolution"
import { judgesOf, type RunConfig } from "@inspo/config"
import { Effect } from "effect"
import { usageError } from "../Failure.ts"
import type { LanguageModelConfig } from "../proposer/LanguageModelLayer.ts"
import type { Section } from "../proposer/Settings.ts"
import type { Check } from "./Check.ts"

export const look = Effect.fn("Preflight.look")(function* (config: RunConfig) {
  const { engine, keys, policy, proposer, retrieval, rollout } = config
  const judges = [...new Set(judgesOf(config).map(({ model }) => model))]
  const asked = [
    ...(policy.model === null ? [] : [models("policy", { name: policy.model, key: keys.policy }, config)]),
    ...(asksModel(config) ? [models("proposer", { name: proposer.model.name, key: keys.proposer }, config)] : []),
    ...judges.map((name) => models("judge", { name, key: keys.judge }, config)),
    ...(retrieval.url === null ? [] : [server("retriever", config)]),
    ...(engine.url === null ? [] : [server("engine", config)]),
    ...(rollout.mcp.length === 0 ? [] : [server("tools", config)])
  ]
  return yield* Effect.all(asked, { concurrency: "unbounded" })
})

/** Fails if a check failed; returns a note for each check that is unsure. */
export const assertReady = Effect.fnUntraced(function* (checks: ReadonlyArray<Check>) {
  const failed = checks.filter(({ status }) => status === "failed")
  if (failed.length > 0)
    return yield* usageError(`${failed.map(({ detail }) => detail).join(". ")}. Nothing was started.`)
  return checks.filter(({ status }) => status === "unsure").map(({ detail }) => `Note: ${detail}.`)
})

/** Loads only the code that is needed. */
const models = (section: Section, model: LanguageModelConfig, { requests }: RunConfig) =>
  Effect.flatMap(
    Effect.promise(() => import("./LanguageModels.ts")),
    ({ look }) => look(section, model, requests)
  )

const server = (part: "engine" | "retriever" | "tools", config: RunConfig) =>
  Effect.flatMap(
    Effect.promise(() => import("./Servers.ts")),
    (servers) => servers[part](config)
  )
