/** Which server gets which key, by `--api-key-env [URL=]NAME`. */
import { usageError } from "../Failure.ts"
import type { ModelName } from "@inspo/reflection"

/** The environment variable with the key of a model; null for that of its provider, if any. */
export type KeyOf = (name: ModelName.ModelName) => string | null

/**
 * `NAME` is for the server of `--model`, `URL=NAME` for the server with that scheme, host and port. No other server gets the key. Throws
 * a `UsageError` on a key that is for none of the models.
 */
export const read = (
  given: ReadonlyArray<string>,
  model: ModelName.ModelName,
  ...others: ReadonlyArray<ModelName.ModelName>
): KeyOf => {
  const variables = new Map<string, string>()
  for (const text of given) {
    const [, url = null, variable = ""] = /^(?:(.*)=)?([^=]+)$/su.exec(text) ?? []
    const origin = url === null ? originOf(model.url) : originOf(url)
    if (origin === null || ![model, ...others].some((one) => originOf(one.url) === origin))
      throw usageError(url === null ? withoutServer(text, model) : unknown(text, [model, ...others]))
    variables.set(origin, variable)
  }
  return ({ url }) => variables.get(originOf(url) ?? "") ?? null
}

export const originOf = (url: string | null): string | null =>
  url !== null && URL.canParse(url) ? new URL(url).origin : null

const withoutServer = (text: string, model: ModelName.ModelName): string =>
  `--api-key-env is ${text}, and --model is ${model.text}, whose provider has its own variable; expected URL=NAME, with the address of the server that gets the key.`

const unknown = (text: string, models: ReadonlyArray<ModelName.ModelName>): string => {
  const servers = [...new Set(models.flatMap(({ url }) => originOf(url) ?? []))]
  return (
    `--api-key-env is ${text}, whose address is not that of a model; ` +
    (servers.length === 0
      ? "neither --model nor --proposer is given by address, so it is not needed."
      : `expected ${servers.map((one) => `${one}=NAME`).join(" or ")}.`)
  )
}
