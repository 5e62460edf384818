import { EngineError } from "@inspo/engine"
import type { EngineFacts } from "@inspo/engine/Wire"
import { Effect } from "effect"
import * as Profile from "../../Profile.ts"
import * as Wire from "../../Wire.ts"
import type { Connection } from "./Connection.ts"
import * as Reply from "./Reply.ts"
import { jsonBody } from "./Transport.ts"

export interface Server {
  readonly profile: Profile.Profile
  readonly model: string
  /** Undefined where the server does not say. */
  readonly contextLength: number | undefined
  readonly facts: EngineFacts | undefined
  readonly limits: { readonly datums: number; readonly bytes: number; readonly compress: boolean }
}

/** Asks a server what it is, and which of its models is meant; `named` settles what it cannot say. */
export const probe = Effect.fnUntraced(function* (
  connection: Connection,
  named: { readonly url: string; readonly profile: Profile.ProfileName; readonly model: string | null },
  names: OptionNames
): Effect.fn.Return<Server, EngineError> {
  const { supported_models: models } = yield* Effect.mapError(
    connection.get("get_server_capabilities", readCapabilities),
    (failure) =>
      unusable(
        `${names.url} is ${named.url}, which is not a server of the Tinker protocol: ${failure.message}`,
        failure
      )
  )
  const offered = models.flatMap(({ model_name: name }) => (typeof name === "string" ? [name] : []))
  if (named.model !== null && offered.length > 0 && !offered.includes(named.model))
    return yield* unusable(
      `${names.model} is ${named.model}, which ${named.url} does not serve; expected one of ${offered.join(", ")}`
    )
  const model = models.find((one) => named.model === null || one.model_name === named.model) ?? {}
  const name = named.model ?? model.model_name ?? null
  if (name === null) return yield* unusable(`${named.url} names no model; set ${names.model}`)
  const facts = model.inspo ?? undefined
  const health =
    named.profile === "auto" && facts === undefined
      ? yield* Effect.option(connection.get("healthz", readHealth))
      : undefined
  const isVerl = health?._tag === "Some" && health.value.status === "ready"
  const profile =
    named.profile !== "auto"
      ? Profile.byName[named.profile]
      : facts !== undefined
        ? Profile.inspo
        : isVerl
          ? Profile.verl
          : named.url.includes("thinkingmachines.dev")
            ? Profile.tinker
            : undefined
  if (profile === undefined)
    return yield* unusable(
      `${names.profile} is auto, but ${named.url} does not say what it is; set ${names.profile} to one of ` +
        Object.keys(Profile.byName).join(", ")
    )
  const config = yield* connection
    .post({ path: "client/config", body: jsonBody({ sdk_version: sdkVersion }), repeatable: true }, readClientConfig)
    .pipe(
      // A server without limits of its own does not know the question.
      Effect.catchIf(
        ({ kind }) => kind === "refused",
        () => Effect.succeed<Wire.ClientConfig>({})
      ),
      Effect.mapError((failure) => unusable(`${named.url}: ${failure.message}`, failure))
    )
  return {
    profile,
    model: name,
    contextLength: model.max_context_length ?? undefined,
    facts,
    limits: {
      datums: config.fwdbwd_max_chunk_len ?? 1024,
      bytes: config.fwdbwd_max_chunk_bytes_count ?? 5_000_000,
      compress: config.proto_compress_fwdbwd ?? false
    }
  }
})

/** What the options of an engine are called where they are set, for messages. */
export interface OptionNames {
  readonly url: string
  readonly model: string
  readonly profile: string
  readonly contextLength: string
  readonly loraRank: string
}

export const sdkVersion = "inspo-ts/0.1"

const unusable = (reason: string, cause?: unknown) =>
  new EngineError({ operation: "start", reason, ...(cause === undefined ? {} : { cause }) })

const readCapabilities = Reply.json(Wire.Capabilities)
const readHealth = Reply.json(Wire.Health)
const readClientConfig = Reply.json(Wire.ClientConfig)
