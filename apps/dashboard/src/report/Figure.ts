/** The figures of a report, as SVG without scripts and external files. */
import { renderToStaticMarkup } from "react-dom/server"
import { drawing } from "./Drawing.ts"
import type { Figure } from "./FigureData.ts"
import { svgStyle } from "./Style.ts"

export type { Figure, Line } from "./FigureData.ts"

/** The figure as a separate SVG file, with the names of the curves. */
export const svg = (figure: Figure): string =>
  `${renderToStaticMarkup(drawing(figure, { xmlns: "http://www.w3.org/2000/svg", style: svgStyle }))}\n`
