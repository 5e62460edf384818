/** Planted bugs of the routes for feature flags and telemetry, and of cases from traces. */
import { inFile, type Mutation } from "./planted.ts"

const flags = inFile("packages/serve/src/http/internal/FlagHandlers.ts")
const evaluations = inFile("packages/serve/src/http/internal/Evaluations.ts")
const telemetry = inFile("packages/serve/src/http/internal/TelemetryHandlers.ts")
const otlp = inFile("packages/serve/src/http/internal/Otlp.ts")
const upstreamPath = inFile("packages/serve/src/http/internal/UpstreamPath.ts")
const traced = inFile("apps/cli/src/data/traces/Cases.ts")
const call = inFile("apps/cli/src/data/traces/Call.ts")
const setup = inFile("packages/evolve/src/Setup.ts")

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
  traced("talk.slice(start.length).every", "talk.slice(start.length).some", "an answer to a later question counts"),
  call(
    "some(({ callsTools }) => callsTools)",
    "some(() => false)",
    "what is said beside a call of a tool is an answer"
  ),
  traced("?? sessionOf.get(call.trace)", "", "the session of a trace is lost"),
  call('spoken.length === 0 ? "tool"', 'spoken.length < 0 ? "tool"', "a result of a tool is a question"),
  setup("tested.size + session.length <= most", "tested.size < most", "more cases are held out than calls can test"),
  upstreamPath('["traces", "logs", "metrics"]', "[]", "telemetry is passed on to the model's server")
]
