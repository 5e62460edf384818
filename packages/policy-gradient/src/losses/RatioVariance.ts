import { Method } from "@inspo/domain"
import { meanOfTokens, perToken, surrogate } from "../Surrogate.ts"

/**
 * R²VPO: a penalty for the variance of the ratio takes the place of the clip, a soft trust region. For A > 0 the gradient
 * changes its sign at ρ = 1 + A / (2λ). λ is not published: see {@link nextLambda}.
 */
export const ratioVariance = surrogate({
  name: "ratio-variance",
  description: "adds a penalty for the squared distance of the ratio from 1, as in R²VPO",
  formula: "g = ρ · (A − 2λ(ρ − 1))",
  source: "R²VPO, arXiv 2601.03320",
  certainty: "part",
  defaults: { lambda: Method.unknown },
  gradient: perToken(
    ({ advantage, ratio }, { lambda }) =>
      ratio * (advantage - 2 * Method.required("ratio-variance", "lambda", lambda) * (ratio - 1))
  ),
  written: meanOfTokens(
    ({ advantage, ratio }, { lambda }) =>
      ratio * advantage - Method.required("ratio-variance", "lambda", lambda) * (ratio - 1) ** 2
  )
})

/** λ after a step whose ratios had this mean squared distance from 1: it rises iff that exceeds `delta`, and is never negative. */
export const nextLambda = (
  lambda: number,
  variance: number,
  { delta, rate }: { readonly delta: number; readonly rate: number }
): number => Math.max(0, lambda + rate * (variance - delta))
