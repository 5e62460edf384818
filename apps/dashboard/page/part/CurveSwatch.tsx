/** A piece of a curve, as a chart draws it. */
export const CurveSwatch = ({
  colour,
  dash = []
}: {
  readonly colour: string
  readonly dash?: ReadonlyArray<number>
}) => (
  <svg className="curve-swatch" width="28" height="8" aria-hidden="true">
    <line x1="0" x2="28" y1="4" y2="4" stroke={colour} strokeWidth="3" strokeDasharray={dash.join(" ")} />
  </svg>
)
