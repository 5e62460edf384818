import { Effect, Layer, Metric } from "effect"
import { catalogue, type MetricName } from "./Catalogue.ts"
import type { Sample } from "./Point.ts"
import { type Interface, Tracker } from "./Tracker.ts"

/**
 * Keeps the latest value of each metric as a gauge of Effect's metric registry, where the Prometheus endpoint and the OTLP
 * exporter read it. `reward/mean` is the gauge `inspo.reward.mean`, and `inspo/value/i3` is `inspo.value` with the
 * attribute `instruction="i3"`. The gauge of an instruction that left the population goes with it.
 */
export const make: Effect.Effect<Interface> = Effect.gen(function* () {
  const context = yield* Effect.context()
  const shown = new Map<MetricName, Map<string, Metric.Gauge<number>>>()

  const set = (sample: Sample) => {
    const labels = shown.get(sample.name) ?? new Map<string, Metric.Gauge<number>>()
    shown.set(sample.name, labels)
    const known = labels.get(sample.label ?? "")
    const gauge = known ?? gaugeOf(sample)
    labels.set(sample.label ?? "", gauge)
    return Metric.update(gauge, sample.value)
  }
  /** Removes what a labelled metric no longer reports. */
  const forget = (samples: ReadonlyArray<Sample>) => {
    for (const [name, own] of Map.groupBy(samples, (sample) => sample.name)) {
      const labels = shown.get(name)
      for (const [label, gauge] of labels ?? [])
        if (!own.some((sample) => (sample.label ?? "") === label)) {
          Metric.removeUnsafe(gauge, context)
          labels?.delete(label)
        }
    }
  }

  const log: Interface["log"] = Effect.fnUntraced(function* ({ samples, step }) {
    forget(samples)
    yield* Effect.forEach(samples, set, { discard: true })
    yield* Metric.update(stepGauge, step)
  })
  return { begin: (_, past) => Effect.forEach(past, log, { discard: true }), log, end: () => Effect.void }
})

/** The tracker of {@link make}. */
export const layer: Layer.Layer<Tracker> = Layer.effect(Tracker, make)

/** The name of a metric's gauge. */
export const gaugeName = (name: MetricName): string => `inspo.${name.replace(/^inspo\//u, "").replaceAll("/", ".")}`

const stepGauge = Metric.gauge("inspo.step", { description: "The step that was measured last" })

const gaugeOf = ({ label, name }: Sample): Metric.Gauge<number> => {
  const definition = catalogue[name]
  return Metric.gauge(gaugeName(name), {
    description: `${definition.meaning}, in ${definition.unit}`,
    ...(definition.label === null || label === null ? {} : { attributes: { [definition.label]: label } })
  })
}
