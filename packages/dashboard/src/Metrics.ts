/** What the recorded metrics are called on the page. */

/** A metric: its title, what it counts in, and whether it is in [0, 1]. */
export interface Metric {
  readonly title: string
  /** Empty for a share, which is shown in percent, and where the title says it. */
  readonly unit: string
  readonly isShare: boolean
}

/** The metric of a name in `metrics.jsonl`, or `val/reward/…` for the validation questions; an unknown name is its own title. */
export const metric = (name: string): Metric => {
  const known = named.get(name)
  if (known !== undefined) return known
  for (const [prefix, title] of prefixed)
    if (name.startsWith(prefix)) return share(title.replace("…", name.slice(prefix.length)))
  return { title: name, unit: "", isShare: false }
}

export const namesIn = (rows: ReadonlyArray<Readonly<Record<string, number>>>): ReadonlyArray<string> =>
  [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== "step")

/** Names of metrics in order, those of single instructions last. */
export const inOrder = (names: Iterable<string>): ReadonlyArray<string> =>
  [...names].toSorted((a, b) => Number(isOfOne(a)) - Number(isOfOne(b)) || a.localeCompare(b, "en", { numeric: true }))

export const isOfOne = (name: string): boolean => /^inspo\/(?:best|prob|value)\//u.test(name)

/** Names of metrics as one text, for an address: the names of a chart are separated by commas, the charts by semicolons. */
export const joinCharts = (charts: ReadonlyArray<ReadonlyArray<string>>): string => charts.map(joinNames).join(";")

export const joinNames = (names: ReadonlyArray<string>): string =>
  names.map((name) => name.replaceAll(/[%,;]/gu, encodeURIComponent)).join(",")

export const splitCharts = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text
    .split(";")
    .map(splitNames)
    .filter(({ length }) => length > 0)

export const splitNames = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .filter((name) => name !== "")
    .map((name) => name.replaceAll(/%(?:25|2C|3B)/gu, decodeURIComponent))

const share = (title: string): Metric => ({ title, unit: "", isShare: true })

const amount = (title: string, unit = ""): Metric => ({ title, unit, isShare: false })

const named: ReadonlyMap<string, Metric> = new Map([
  ["reward/mean", share("Training reward")],
  ["val/reward/mean", share("Validation reward")],
  ["groups/mixed", share("Groups with mixed rewards")],
  ["clipfrac", share("Clipped share of tokens")],
  ["tool_calls/mean", amount("Tool calls per trajectory")],
  ["response_length/mean", amount("Response length", "tokens")],
  ["prompt_length/mean", amount("Prompt length", "tokens")],
  ["rollouts/train", amount("Training rollouts so far")],
  ["rollouts/verification", amount("Verification rollouts so far")],
  ["rollouts/failed", amount("Failed rollouts")],
  ["tokens/train", amount("Training tokens so far")],
  ["tokens/verification", amount("Verification tokens so far")],
  ["judge/asked", amount("Questions to the judge")],
  ["judge/unread", amount("Verdicts that could not be read")],
  ["judge/noise", share("Verdicts that changed when asked again")],
  ["kl", amount("KL to the reference", "nats")],
  ["grad_norm", amount("Gradient norm")],
  ["loss", amount("Loss")],
  ["lr", amount("Learning rate")],
  ["inspo/population", amount("Instructions alive")]
])

/** Families of metrics, all shares; `…` in a title is the rest of the name. */
const prefixed: ReadonlyArray<readonly [prefix: string, title: string]> = [
  ["reward/", "Training reward, …"],
  ["val/reward/", "Validation reward, …"],
  ["inspo/value/", "Value of …"],
  ["inspo/best/", "P(… is best)"],
  ["inspo/prob/", "Probability of drawing …"]
]
