/** Planted bugs of the routes for feature flags and telemetry. */
import { inFile, type Mutation } from "./planted.ts"

const flags = inFile("packages/serve/src/http/internal/FlagHandlers.ts")
const evaluations = inFile("packages/serve/src/http/internal/Evaluations.ts")
const telemetry = inFile("packages/serve/src/http/internal/TelemetryHandlers.ts")
const otlp = inFile("packages/serve/src/http/internal/Otlp.ts")
const upstreamPath = inFile("packages/serve/src/http/internal/UpstreamPath.ts")

export const ofStandards: ReadonlyArray<Mutation> = [
  flags("${index}`, sticky", "${opened.train}`, sticky", "a flag that is evaluated again is another lease"),
  flags("known.has(etag) || ", "", "flags that a client has are sent again"),
  flags('created.settings.profile === "online")', "true)", "all flags contain populations of trainers"),
  flags("Schema.isMaxLength(180)", "Schema.isMaxLength(200)", "a targeting key has no room for its cohort"),
  evaluations("{ ...further, ...own }", "own", "the lease of an ancestor is not found"),
  evaluations("known.size > Limits.spansRemembered", "false", "spans are remembered without a bound"),
  evaluations("depth === deepest", "false", "parents in a circle are followed"),
  evaluations("attributes[names.evaluation] === evaluation", "true", "an evaluation that was not chosen counts"),
  telemetry('outcome === "unknown"', "false", "an exporter does not hear of unknown leases"),
  otlp("messages(span, 11)", "messages(span, 12)", "events of spans in protobuf are not read"),
  upstreamPath('["traces", "logs"]', "[]", "telemetry is passed on to the model's server")
]
