import type { ProposerErrorKind } from "@inspo/reflection"

/** The settings that name a language model. */
export const modelSetting = { policy: "policy.model", proposer: "proposer.model", judge: "reward.kind.model" } as const

/** A part of a run that a language model does. */
export type Section = keyof typeof modelSetting

/** A problem of the language model of a section, with the settings that it depends on. */
export const withSettings = (section: Section, kind: ProposerErrorKind, problem: string): string => {
  const settings = behind(section, kind)
  return settings.length === 0 ? problem : `${problem}. In the config: ${settings.join(", ")}`
}

const behind = (section: Section, kind: ProposerErrorKind): ReadonlyArray<string> => {
  const model = modelSetting[section]
  switch (kind) {
    case "unauthorized":
      return [`keys.${section}`]
    case "rate-limited":
      return ["requests.retries"]
    case "unreachable":
      return [model, "requests.timeoutSeconds"]
    case "empty":
    case "cut":
      return [section === "proposer" ? `${model}.maxOutputTokens` : model]
    case "no-candidates":
      return [model, "proposer.kind.prompt"]
    case "server-error":
    case "other":
      return []
    default:
      return [model]
  }
}
