import { PlainText } from "@inspo/domain"
import { ReportedFailure } from "@inspo/http/client"
import { AiError } from "effect/ai"

/** Takes out of a text what must not be shown, wherever it came from. */
export type Hide = (text: string) => string

/** What a failure of a status means; `seen` says where that status was seen. */
export const fromStatus = (
  status: number,
  body: string,
  hide: Hide,
  seen = `status ${status}`
): AiError.AiErrorReason => {
  const http = { body: `${seen}: ${excerpt(hide(ReportedFailure.messageIn(body) ?? body))}` }
  if (status === 402 || (status === 429 && /insufficient_quota|billing/iu.test(body)))
    return new AiError.QuotaExhaustedError({ http })
  if (status === 408 || status >= 500) return new AiError.InternalProviderError({ description: "server error", http })
  if (status === 401 || status === 403 || status === 429) return AiError.reasonFromHttpStatus({ status, http })
  // Google answers a wrong key with status 400.
  if (/api.key.(not.valid|invalid)/iu.test(body)) return new AiError.AuthenticationError({ kind: "InvalidKey", http })
  return new AiError.InvalidRequestError({ http, ...(isNotFound(status, body) ? { constraint: notFound } : {}) })
}

/** The constraint of a request for a model, or at an address, that a server does not have. */
export const notFound = "exists"

/** Some servers answer status 400 where they do not have a model. */
const isNotFound = (status: number, body: string): boolean =>
  status === 404 || status === 405 || status === 410 || /invalid model|not a valid model|model_not_found/iu.test(body)

/** What it means that no whole answer came; `description` says what was seen. */
export const unanswered = (url: string, description: string): AiError.AiErrorReason =>
  new AiError.NetworkError({ reason: "TransportError", method: "POST", url, description: excerpt(description) })

/** What an answer of status 200 means that cannot be read for the reason given. */
export const unreadable = (problem: string, body: string, hide: Hide): AiError.AiErrorReason =>
  new AiError.InvalidResponseError({ description: hide(problem), http: { body: excerpt(hide(body)) } })

const excerpt = (text: string): string => {
  const line = PlainText.escape(text.trim().replace(/\s+/gu, " "))
  return line === "" ? "no text" : line.length <= longestExcerpt ? line : `${line.slice(0, longestExcerpt)}…`
}

const longestExcerpt = 200
