/** What the config of a run directory names outside the directory: servers, programs and environment variables. */
import { createHash } from "node:crypto"
import type { RunConfig } from "@inspo/config"
import { ModelName, type ProposerModel } from "@inspo/reflection"
import { Credentials } from "@inspo/tracking"

/**
 * One thing that a directory may make a command do; `id` identifies it, and `says` shows it, an address without its
 * credentials.
 */
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
  ...(use === "run" ? model("proposer", config.proposer, config.keys.proposer) : [])
]

/** One permission from what identifies it and what a person reads. */
export const permission = (says: string, ...identity: ReadonlyArray<unknown>): Permission => ({
  id: createHash("sha256").update(JSON.stringify(identity)).digest("hex"),
  says
})

const answering = ({
  engine,
  judge,
  keys,
  policy,
  retrieval,
  reward,
  rollout
}: RunConfig): ReadonlyArray<Permission> => [
  ...chat(policy.provider, keys.policy),
  ...address("engine", engine.url, keys.engine),
  ...address("retrieval", retrieval.url, keys.retrieval),
  ...model("judge", judge, keys.judge),
  ...(reward.command.length === 0 ? [] : [program("reward.command", reward.command, [])]),
  ...rollout.mcp.map((server) =>
    "command" in server
      ? program("rollout.mcp", server.command, server.env ?? [])
      : connection("rollout.mcp", server.url, server.apiKeyEnv ?? null)
  )
]

const chat = (name: string | null, key: string | null): ReadonlyArray<Permission> => {
  const parsed = name === null ? null : ModelName.parse(name)
  if (parsed === null)
    return key === null ? [] : [permission(`read the variable ${key} (keys.policy)`, "policy", null, key)]
  const variable = key ?? usualKeys[parsed.provider]
  return parsed.url === null ? model("policy", parsed, key) : [connection("policy.provider", parsed.url, variable)]
}

const address = (section: string, url: string | null, variable: string | null): ReadonlyArray<Permission> =>
  url !== null
    ? [connection(`${section}.url`, url, variable)]
    : variable !== null
      ? [permission(`read the variable ${variable} (keys.${section})`, section, null, variable)]
      : []

const model = (
  section: "policy" | "proposer" | "judge",
  { provider, url }: Pick<RunConfig["judge"], "url"> & { readonly provider: RunConfig["proposer"]["provider"] | null },
  key: string | null
): ReadonlyArray<Permission> => {
  if (provider === null || provider === "offline") return address(section, url, key)
  const variable = key ?? usualKeys[provider]
  if (url !== null) return address(section, url, variable)
  const says = `connect to ${provider}${variable === null ? "" : ` and send it the variable ${variable}`}`
  return [permission(`${says} (${section}.provider)`, section, provider, variable)]
}

/** The variables that providers' keys are in by default; known here so that reading a directory loads no provider. */
export const usualKeys: Readonly<Record<Exclude<ProposerModel.ModelProvider, "offline">, string | null>> = {
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
