import { Effect, Random } from "effect"

/** 16 hexadecimal digits, drawn again each time. */
export const word = Effect.map(
  Effect.all([Random.nextIntBetween(0, 0xffffffff), Random.nextIntBetween(0, 0xffffffff)]),
  (halves) => halves.map((half) => half.toString(16).padStart(8, "0")).join("")
)
