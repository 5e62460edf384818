/** How long ago a time was, as milliseconds since 1970: `5 min ago`, `just now`. */
export const ago = (milliseconds: number): string => {
  const seconds = Math.max(0, (Date.now() - milliseconds) / 1000)
  return seconds < 90 ? "just now" : `${rough(seconds)} ago`
}

/** A time before or after now, as ISO 8601: `in 5 min`, `30 s ago`. */
export const fromNow = (iso: string): string => {
  const seconds = Math.round((Date.parse(iso) - Date.now()) / 1000)
  return seconds >= 0 ? `in ${rough(seconds)}` : `${rough(-seconds)} ago`
}

const rough = (seconds: number): string => {
  if (seconds < 90) return `${seconds} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} days`
}
