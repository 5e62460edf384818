import type { RunConfig } from "@inspo/config"
import { type ProposerErrorKind, isPermanent } from "@inspo/reflection"
import { Provider } from "@inspo/reflection/models"
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { type LanguageModelConfig, timeoutOf, wayTo } from "../proposer/LanguageModelLayer.ts"
import { type Section, withSettings } from "../proposer/Settings.ts"
import { atMost, type Check } from "./Check.ts"

/** Whether the model of a section is available: its server answers, accepts the key and has the model. Costs at most one token. */
export const look = (section: Section, config: LanguageModelConfig, requests: RunConfig["requests"]) =>
  Effect.matchEffect(wayTo(section, config), {
    onSuccess: ({ provider, ...way }) =>
      Provider.find(provider, { ...way, timeout: atMost(timeoutOf(section, requests)) }).pipe(
        Effect.provide(FetchHttpClient.layer),
        Effect.match({
          onSuccess: (found): Check => ({
            part: section,
            status: "ready",
            detail: `${way.model} ${found === "listed" ? "is known to its server" : "answers"}`
          }),
          onFailure: (error): Check => {
            const kind = Provider.kindOf(error)
            return {
              part: section,
              status: isPermanent(kind) || isAbsent.has(kind) ? "failed" : "unsure",
              detail: `${section} ${way.model}: ${withSettings(section, kind, Provider.explain(error))}`
            }
          }
        })
      ),
    onFailure: ({ message }) =>
      Effect.succeed<Check>({ part: section, status: "failed", detail: message.replace(/\.$/u, "") })
  })

/** Errors that may pass during a run, but prevent a start. */
const isAbsent: ReadonlySet<ProposerErrorKind> = new Set(["unreachable", "unreadable"])
