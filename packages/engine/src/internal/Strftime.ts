/** Python's `strftime` in its C locale, for midnight of a day written YYYY-MM-DD. Throws on an unknown directive. */
export const strftime = (day: string, format: string): string => {
  const date = new Date(`${day}T00:00:00Z`)
  return format.replaceAll(/%(.?)/gsu, (whole, directive: string) => {
    const write = directives[directive]
    if (write === undefined) throw new RangeError(`chat_template: strftime_now does not support ${whole}`)
    return write(date)
  })
}

const named = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat("en-US", { ...options, timeZone: "UTC" })
  return (date: Date) => format.format(date)
}

const padded = (value: number, digits = 2): string => String(value).padStart(digits, "0")

const dayOfYear = (date: Date): number => (date.getTime() - Date.UTC(date.getUTCFullYear(), 0)) / 86_400_000 + 1

const iso = (date: Date): string => date.toISOString().slice(0, 10)

const directives: Readonly<Record<string, (date: Date) => string>> = {
  "%": () => "%",
  A: named({ weekday: "long" }),
  a: named({ weekday: "short" }),
  B: named({ month: "long" }),
  b: named({ month: "short" }),
  d: (date) => padded(date.getUTCDate()),
  e: (date) => String(date.getUTCDate()).padStart(2, " "),
  F: iso,
  H: () => "00",
  I: () => "12",
  j: (date) => padded(dayOfYear(date), 3),
  M: () => "00",
  m: (date) => padded(date.getUTCMonth() + 1),
  p: () => "AM",
  S: () => "00",
  T: () => "00:00:00",
  Y: (date) => String(date.getUTCFullYear()),
  y: (date) => padded(date.getUTCFullYear() % 100)
}
