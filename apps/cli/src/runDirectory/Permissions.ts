/** What the config of a run directory names outside the directory: servers, programs and environment variables. */
import { createHash } from "node:crypto"
import { judgeSettings, judgesOf, type RunConfig } from "@inspo/config"
import { ModelName } from "@inspo/reflection"
import { commandOf } from "@inspo/reward"
import { Credentials } from "@inspo/tracking"
import { modelSetting, type Section } from "../proposer/Settings.ts"

/** One thing that a directory may make a command do; `id` identifies it, and `says` shows it, an address without its credentials. */
export interface Permission {
  readonly id: string
  readonly says: string
}

/** Reading opens a journal, `eval` also answers questions, and a run also asks its proposer. */
export type Use = "read" | "eval" | "run"

/**
 * What a config names. A variable, a program and an address count even if another setting makes them unused, so that a setting
 * of the command line cannot activate them unseen.
 */
export const permissionsOf = (config: RunConfig, use: Use): ReadonlyArray<Permission> => [
  ...address("journal", config.journal.url, config.keys.journal),
  ...(use === "read" ? [] : answering(config)),
  ...(use === "run" ? model("proposer", config.proposer.model.name, config.keys.proposer) : [])
]

/** One permission from what identifies it and what a person reads. */
export const permission = (says: string, ...identity: ReadonlyArray<unknown>): Permission => ({
  id: createHash("sha256").update(JSON.stringify(identity)).digest("hex"),
  says
})

const answering = (config: RunConfig): ReadonlyArray<Permission> => {
  const { engine, keys, policy, retrieval, reward, rollout } = config
  const judges = judgesOf(config)
  return [
    ...model("policy", policy.model, keys.policy),
    ...address("engine", engine.url, keys.engine),
    ...address("retrieval", retrieval.url, keys.retrieval),
    ...(judges.length === 0
      ? address("judge", null, keys.judge)
      : judges.flatMap(({ model: name, role }) => model("judge", name, keys.judge, judgeSettings[role]))),
    ...[commandOf(reward) ?? []].flatMap((command) =>
      command.length === 0 ? [] : [program("reward.kind.command", command, [])]
    ),
    ...(rollout.agent.name === "outside" ? [outside(rollout.agent.program)] : []),
    ...rollout.mcp.map((server) =>
      "command" in server
        ? program("rollout.mcp", server.command, server.env ?? [])
        : connection("rollout.mcp", server.url, server.apiKeyEnv ?? null)
    )
  ]
}

const outside = (program: string): Permission =>
  permission(
    `ask the agent ${Credentials.withoutCredentials(program)} (rollout.agent.program)`,
    "rollout.agent.program",
    program
  )

const address = (section: string, url: string | null, variable: string | null): ReadonlyArray<Permission> =>
  url !== null
    ? [connection(`${section}.url`, url, variable)]
    : variable !== null
      ? [permission(`read the variable ${variable} (keys.${section})`, section, null, variable)]
      : []

const model = (
  section: Section,
  name: string | null,
  key: string | null,
  setting: string = modelSetting[section]
): ReadonlyArray<Permission> => {
  const named = ModelName.parse(name ?? "")
  if (named === null) return address(section, null, key)
  const { provider, url } = named
  const variable = key ?? usualKeys[provider]
  if (url !== null) return [connection(setting, url, variable)]
  const says = `connect to ${provider}${variable === null ? "" : ` and send it the variable ${variable}`}`
  return [permission(`${says} (${setting})`, section, provider, variable)]
}

/** The variables that providers' keys are in by default; known here so that reading a directory loads no provider. */
export const usualKeys: Readonly<Record<ModelName.ModelProvider, string | null>> = {
  "openai-compatible": null,
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  google: "GEMINI_API_KEY"
}

const connection = (setting: string, url: string, variable: string | null): Permission =>
  permission(
    `connect to ${Credentials.withoutCredentials(url)}${variable === null ? "" : ` and send it the variable ${variable}`} (${setting})`,
    setting,
    url,
    variable
  )

const program = (setting: string, command: ReadonlyArray<string>, env: ReadonlyArray<string>): Permission =>
  permission(
    `run the program ${command.map((part) => JSON.stringify(part)).join(" ")}` +
      `${env.length === 0 ? "" : ` with the variables ${env.join(", ")}`} (${setting})`,
    setting,
    command,
    env
  )
