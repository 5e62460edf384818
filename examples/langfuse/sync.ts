/**
 * Scores of Langfuse become rewards of `inspo serve`, and each incumbent the prompt of that name with the label `production`:
 *
 *     node sync.ts INSPO_URL SCORE MINUTES POPULATION…
 *
 * Run it every few minutes: it reads the scores of this name of the last MINUTES, and a reward that was reported counts once.
 * `LANGFUSE_BASE_URL`, `LANGFUSE_PUBLIC_KEY` and `LANGFUSE_SECRET_KEY` say where, and `INSPO_KEY` is the server's key, if any.
 */
import { Inspo } from "@inspo/client"
import { LangfuseClient } from "@langfuse/client"

const [url = "", name = "", minutes = "", ...populations] = process.argv.slice(2)
if (populations.length === 0 || !(Number(minutes) > 0))
  throw new RangeError("expected INSPO_URL SCORE MINUTES POPULATION…, such as http://127.0.0.1:8700 helpful 60 support")
const { api, prompt: prompts } = new LangfuseClient()
const key = process.env["INSPO_KEY"]
await using inspo = new Inspo({ urls: [url], timeout: 10_000, ...(key === undefined ? {} : { apiKey: key }) })

/** The leases of the spans of a trace, or of one of them if it has one: what OpenTelemetry calls attributes is metadata in Langfuse. */
const leasesOf = async (traceId: string, observation?: string): Promise<ReadonlyArray<string>> => {
  const { data } = await api.observations.getMany({ traceId, fields: "metadata", expandMetadata: "attributes" })
  const found = data.map(({ id, metadata }) => ({
    id,
    lease: /inspo\.lease\\*":\s*\\*"([^"\\]+)/u.exec(JSON.stringify(metadata) ?? "")?.[1]
  }))
  const own = found.filter(({ id, lease }) => id === observation && lease !== undefined)
  return [...new Set((own.length > 0 ? own : found).flatMap(({ lease }) => lease ?? []))]
}

const fromTimestamp = new Date(Date.now() - 60_000 * Number(minutes)).toISOString()
const asked = { name, fromTimestamp, fields: "subject,details", dataType: "NUMERIC,BOOLEAN", limit: 100 }
let next: { readonly cursor?: string } | null = {}
while (next !== null) {
  const { data, meta } = await api.scoresV3.getManyV3({ ...asked, ...next })
  for (const { comment, subject, value } of data) {
    if (subject?.kind !== "trace" && subject?.kind !== "observation") continue
    const isTrace = subject.kind === "trace"
    const trace = isTrace ? subject.id : subject.traceId
    for (const lease of trace === undefined ? [] : await leasesOf(trace, isTrace ? undefined : subject.id)) {
      // A lease is named after its population.
      const population = lease.replace(/~.*$/su, "")
      if (populations.includes(population))
        void inspo.reward(population, {
          lease,
          value: Number(value),
          ...(comment ? { feedback: comment.slice(0, 16_384) } : {})
        })
    }
  }
  next = meta.cursor === undefined ? null : { cursor: meta.cursor }
}
if ((await inspo.flush({ timeout: 60_000 })) > 0) process.exitCode = 1
process.stdout.write(`rewards: ${JSON.stringify(inspo.counts)}\n`)

for (const population of populations) {
  const { fresh, id, wording } = await inspo.incumbent(population)
  if (!fresh) throw new Error(`${url} did not answer with the incumbent of ${population}`)
  const text = typeof wording === "string" ? wording : JSON.stringify(wording)
  const now = await api.prompts.get(population, { label: "production" }).catch((error: unknown) => {
    if (!(error instanceof Error) || !("statusCode" in error) || error.statusCode !== 404) throw error
  })
  if (now?.prompt === text) continue
  const labels = ["production"]
  const made = await prompts.create({
    name: population,
    type: "text",
    prompt: text,
    labels,
    commitMessage: `inspo: ${id}`
  })
  process.stdout.write(`${population}: version ${made.version}\n`)
}
