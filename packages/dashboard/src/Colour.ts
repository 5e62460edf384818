/** The colours of instructions, on the page and in reports. */
import type { CSSProperties } from "react"

/** The hue of an instruction: neighbouring numbers have very different ones. The seed is grey. A style sheet sets the lightness. */
export const instructionStyle = (id: string | null): CSSProperties & Record<"--hue" | "--chroma", string> => {
  const number = id === null ? Number.NaN : Number.parseInt(id.replace(/\D+/gu, ""), 10)
  return Number.isNaN(number) || number === 0
    ? { "--hue": "0", "--chroma": "0.01" }
    : { "--hue": String((number * 137.508 + 140) % 360), "--chroma": "0.13" }
}

export const inkOf = (id: string): string => {
  const { "--chroma": chroma, "--hue": hue } = instructionStyle(id)
  return `light-dark(oklch(58% ${chroma} ${hue}), oklch(74% ${chroma} ${hue}))`
}
