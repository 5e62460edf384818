import type { ProposerErrorKind } from "@inspo/reflection"

/** A problem of the language model of a config section, with the settings that it depends on. */
export const withSettings = (section: string, kind: ProposerErrorKind, problem: string): string => {
  const settings =
    kind === "unauthorized"
      ? [`keys.${section}`]
      : section === "policy" && kind !== "rate-limited"
        ? ["policy.provider", ...(kind === "unreachable" ? ["requests.timeoutSeconds"] : [])]
        : (behind[kind] ?? []).map((option) => (option.includes(".") ? option : `${section}.${option}`))
  return settings.length === 0 ? problem : `${problem}. In the config: ${settings.join(", ")}`
}

const behind: Readonly<Partial<Record<ProposerErrorKind, ReadonlyArray<string>>>> = {
  unreachable: ["url", "requests.timeoutSeconds"],
  "not-found": ["model", "url"],
  "quota-exhausted": ["provider"],
  "rate-limited": ["requests.retries"],
  rejected: ["model", "url"],
  unreadable: ["provider", "url"],
  refused: ["model"],
  empty: ["maxOutputTokens", "model"],
  cut: ["maxOutputTokens"],
  "no-candidates": ["model", "prompt"]
}
