/** How long a server is waited for at most before a run begins. */
export const longest = 30

/** The time that a setting gives to a request, within what a start may take. */
export const atMost = (seconds: number) => `${Math.min(longest, seconds)} seconds` as const
