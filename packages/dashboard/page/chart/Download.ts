/** Files of a chart. Loaded when the first one is saved. */
import { flushSync } from "react-dom"
import { createRoot } from "react-dom/client"
import { csv } from "../../src/Chart.ts"
import { drawing } from "../../src/Drawing.ts"
import type { Figure } from "../../src/Figure.ts"
import { svgStyle } from "../../src/report/Style.ts"

export type FileKind = "csv" | "svg" | "png"

/** Saves what a chart shows: its values, or a figure with the titles of its axes. */
export const download = async (figure: Figure, kind: FileKind): Promise<void> => {
  const blob =
    kind === "png"
      ? await png(svg(figure))
      : new Blob([kind === "csv" ? csv(figure) : svg(figure)], {
          type: kind === "csv" ? "text/csv" : "image/svg+xml"
        })
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = `${figure.title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 80)}.${kind}`
  link.click()
  // The browser reads it after the click.
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** The same figure as those of reports, as the text of a file. */
const svg = (figure: Figure): string => {
  const host = document.createElement("div")
  const root = createRoot(host)
  flushSync(() => root.render(drawing(figure, { xmlns: "http://www.w3.org/2000/svg", style: svgStyle })))
  const text = host.firstChild === null ? "" : new XMLSerializer().serializeToString(host.firstChild)
  root.unmount()
  return `${text}\n`
}

/** Pixels of the picture for one unit of the figure: 300 dots per inch at a width of five inches. */
const pixels = 3

/** The figure as a picture on white. */
const png = async (text: string): Promise<Blob> => {
  const [, , width = 0, height = 0] = (/viewBox="([^"]+)"/u.exec(text)?.[1] ?? "").split(" ").map(Number)
  const sized = text.replace("<svg", `<svg width="${width * pixels}" height="${height * pixels}"`)
  const image = new Image()
  image.src = `data:image/svg+xml,${encodeURIComponent(sized)}`
  await image.decode()
  const canvas = document.createElement("canvas")
  canvas.width = width * pixels
  canvas.height = height * pixels
  const context = canvas.getContext("2d")
  if (context !== null) {
    context.fillStyle = "#fff"
    context.fillRect(0, 0, canvas.width, canvas.height)
    context.drawImage(image, 0, 0)
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error("The browser made no picture.")) : resolve(blob)))
  )
}
