import { ConfigError, asksModel, inconsistency as inAlgorithm, unknownPrice } from "@inspo/coevolution"
import { ModelName, Prices, ProposerModel } from "@inspo/reflection"
import { Agents, builtInTools } from "@inspo/rollout"
import { judgeSettings, judgesOf } from "./Judges.ts"
import { isEmbedded, type RunConfig } from "./RunConfig.ts"

/** The first rule between settings that a config breaks, or null. */
export const inconsistency = (config: RunConfig): ConfigError | null =>
  modelsAreNamed(config) ??
  policyGivesTokens(config) ??
  chatPolicyIsFrozen(config) ??
  toolCallsHaveProvider(config) ??
  questionsHaveCorpus(config) ??
  valuesAreUsed(config) ??
  inAlgorithm(config) ??
  toolsAreSomewhere(config) ??
  toolsAreDescribed(config) ??
  pricesAreKnown(config)

type Rule = (config: RunConfig) => ConfigError | null

/** The remedy if a config names a hosted chat model as the policy. */
export const noChatPolicy =
  "A chat model cannot be the engine, which needs token ids from /v1/completions. Serve a model with open weights " +
  "with vLLM, SGLang or llama.cpp (engine.profile: completions), or use a server with the Tinker protocol, which trains. Or " +
  "evolve the instruction of the chat model itself: name it in policy.model, or keep your own agent with `inspo serve`."

/** The language models that a run pays for, by the section of the config that names them. */
export const paidModels = (
  config: RunConfig
): ReadonlyArray<{ readonly section: "policy" | "judge" | "proposer"; readonly model: string | null }> => {
  const { policy, proposer } = config
  return [
    ...(policy.model === null ? [] : [{ section: "policy" as const, model: ModelName.modelOf(policy.model) }]),
    ...judgesOf(config).map(({ model }) => ({ section: "judge" as const, model: ModelName.modelOf(model) })),
    ...(asksModel(config) ? [{ section: "proposer" as const, model: ModelName.modelOf(proposer.model.name) }] : [])
  ]
}

/** Whether an address is that of a chat model provider or, for a server that must train, of an API with OpenAI's protocol. */
export const isChatAddress = (url: string, profile: RunConfig["engine"]["profile"]): boolean => {
  const { hostname = "", pathname = "" } = URL.parse(url) ?? {}
  return chatHosts.test(hostname) || (profile !== "completions" && /\/(?:v1|chat\/completions)\/*$/u.test(pathname))
}

const chatHosts =
  /^(?:api\.(?:openai|anthropic|mistral|groq|deepseek)\.(?:com|ai)|.+\.openai\.azure\.com|generativelanguage\.googleapis\.com|openrouter\.ai)$/u

/** A name that is none of a language model, as an error of its setting. */
export const notAModel = (field: string): ConfigError =>
  new ConfigError({
    field,
    // An address could contain a password.
    value: "not the name of a language model",
    expected: ModelName.forms,
    remedy: `Set it as in --set ${field}=openai:gpt-4.1-mini.`
  })

const modelsAreNamed: Rule = (config) => {
  const { policy, proposer } = config
  const names = {
    "policy.model": policy.model,
    "proposer.model": proposer.model.name === ProposerModel.offline ? null : proposer.model.name,
    ...Object.fromEntries(judgesOf(config).map(({ model, role }) => [judgeSettings[role], model]))
  }
  const wrong = Object.entries(names).find(([, name]) => name !== null && ModelName.parse(name) === null)
  return wrong === undefined ? null : notAModel(wrong[0])
}

const policyGivesTokens: Rule = ({ engine }) =>
  engine.url === null || !isChatAddress(engine.url, engine.profile)
    ? null
    : new ConfigError({
        field: "engine.url",
        value: `the address of a chat model at ${URL.parse(engine.url)?.host ?? "a server"}`,
        expected: "a server that returns token ids",
        remedy: noChatPolicy
      })

const toolCallsHaveProvider: Rule = ({ policy: { model }, rollout }) =>
  Agents.fromConfig(rollout).protocol !== "tool-calls" || model !== null
    ? null
    : new ConfigError({
        field: "rollout.agent",
        value: rollout.agent.name,
        expected: "another agent, because only policy.model has tool calls of its own",
        remedy: "Set it to search-r1, or name a chat model in policy.model."
      })

const chatPolicyIsFrozen: Rule = ({ control, engine, policy: { model }, rollout, train }) => {
  if (model === null) return null
  if (engine.url !== null)
    return new ConfigError({
      field: "engine.url",
      value: "an address",
      expected: "null, because policy.model answers in place of the engine",
      remedy: "Set one of the two to null."
    })
  if (train.fromStep !== null)
    return new ConfigError({
      field: "train.fromStep",
      value: String(train.fromStep),
      expected: "null, because policy.model is a frozen policy",
      remedy: "Set it to null, or leave training out with --ablate training."
    })
  if (control.demonstrations !== null)
    return new ConfigError({
      field: "control.demonstrations",
      value: control.demonstrations,
      expected: "null, because policy.model learns nothing",
      remedy: "Set it to null, and leave out --method."
    })
  return Agents.fromConfig(rollout).protocol !== "tokens"
    ? null
    : new ConfigError({
        field: "rollout.agent",
        value: rollout.agent.name,
        expected: "another agent, because this one is defined by tokens and policy.model gives none",
        remedy: "Set it to search-r1."
      })
}

const questionsHaveCorpus: Rule = ({ data, retrieval, rollout }) =>
  (data.questions === null) === (data.corpus === null) ||
  (data.questions !== null && (retrieval.url !== null || !Agents.searches(Agents.fromConfig(rollout), rollout)))
    ? null
    : new ConfigError({
        field: data.questions === null ? "data.questions" : "data.corpus",
        value: "null",
        expected: "a path, because the other of the two is a path",
        remedy:
          "Set both data.questions and data.corpus, or neither to use the generated world; data.corpus can be null " +
          "if retrieval.url is set, or if the agent does not search."
      })

/** What nothing could use, or would read. */
const valuesAreUsed: Rule = (config) => {
  const { data, engine, rollout } = config
  const { program } = Agents.fromConfig(rollout).outside ?? { program: "" }
  const port = Number(/^[\w.-]*:(\d+)$/u.exec(program)?.[1] ?? 0)
  const [mix, context] = [data.questions === null ? data.mix : null, isEmbedded(config) ? engine.contextLength : null]
  const rows = [
    ["rollout.agent.program", port > 65_535 ? program : null, "a port from 0 to 65535", "Name one such as :8200."],
    ["data.mix", mix, "null, because a generated world has its own mix", "Set it to null, or name data.questions."],
    ["engine.contextLength", context, "null, because the embedded model has its own", "Set one of it and engine.url."]
  ] as const
  const unused = rows.find(([, value]) => value !== null)
  if (unused === undefined) return null
  const [field, value, expected, remedy] = unused
  return new ConfigError({ field, value: JSON.stringify(value), expected, remedy })
}

/** The tools of servers are not known before they are connected. */
const toolsAreSomewhere: Rule = ({ rollout }) => {
  const unknown = rollout.tools.find((name) => !builtInTools.includes(name))
  return unknown === undefined || rollout.mcp.length > 0
    ? null
    : new ConfigError({
        field: "rollout.tools",
        value: JSON.stringify(unknown),
        expected: `some of ${builtInTools.join(", ")}`,
        remedy: "Remove it, or add its server to rollout.mcp; add custom tools to the rollout layer in TypeScript."
      })
}

/** A policy cannot call a tool that its prompt does not describe. */
const toolsAreDescribed: Rule = ({ rollout, seedInstruction }) => {
  if (Agents.fromConfig(rollout).protocol === "tool-calls") return null
  const undescribed = rollout.tools.find(
    (name) => !builtInTools.includes(name) && !seedInstruction.includes(`<${name}>`)
  )
  return undescribed === undefined || rollout.texts.prompt.includes("{tools}")
    ? null
    : new ConfigError({
        field: "rollout.texts",
        value: JSON.stringify(rollout.texts.prompt),
        expected: `{tools} in its prompt, which describes the tools, because rollout.tools has ${undescribed}`,
        remedy: `Put {tools} before {question}, or describe <${undescribed}> in seedInstruction.`
      })
}

const pricesAreKnown: Rule = (config) => {
  const { prices, usd } = config.budget
  if (usd === null) return null
  const unknown = paidModels(config).find(({ model }) => Prices.priceOf(model, prices) === null)
  return unknown === undefined ? null : unknownPrice(unknown.section, usd)
}
