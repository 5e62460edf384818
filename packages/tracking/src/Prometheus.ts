import type { Layer } from "effect"
import type { HttpRouter } from "effect/http"
import { PrometheusMetrics } from "effect/observability"

/**
 * Answers `GET /metrics` in Prometheus's text format with all metrics of the process; those of a run are there while
 * {@link "./Gauges.ts"} is attached to it.
 */
export const layerRoute: Layer.Layer<never, never, HttpRouter.HttpRouter> = PrometheusMetrics.layerHttp()
