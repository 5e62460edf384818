/** How long ago, in words. */
export const ago = (milliseconds: number): string => {
  const seconds = Math.max(0, (Date.now() - milliseconds) / 1000)
  if (seconds < 90) return "just now"
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h ago`
  return `${Math.round(seconds / 86_400)} days ago`
}
