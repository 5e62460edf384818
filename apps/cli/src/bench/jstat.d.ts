declare module "jstat" {
  const jstat: {
    readonly studentt: {
      /** Quantile `p` of Student's t distribution with `degrees` degrees of freedom. */
      readonly inv: (p: number, degrees: number) => number
    }
  }
  export default jstat
}
