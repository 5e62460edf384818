declare module "jstat" {
  const jstat: {
    readonly beta: {
      /** Quantile `p` of the beta distribution with shapes `alpha` and `beta`. */
      readonly inv: (p: number, alpha: number, beta: number) => number
    }
    readonly centralF: {
      /** Quantile `p` of the F distribution with degrees of freedom of the numerator and of the denominator. */
      readonly inv: (p: number, numerator: number, denominator: number) => number
    }
    readonly studentt: {
      /** Quantile `p` of Student's t distribution with `degrees` degrees of freedom. */
      readonly inv: (p: number, degrees: number) => number
    }
    readonly binomial: {
      /** Probability of at most `k` successes in `n` trials of probability `p`. */
      readonly cdf: (k: number, n: number, p: number) => number
    }
  }
  export default jstat
}
