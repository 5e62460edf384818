/** How much a client may ask for. What goes beyond is refused, saying how much is allowed. */
export interface Limits {
  /** Samples of one request. */
  readonly samples: number
  /** Datums of one request. */
  readonly datums: number
  /** Tokens of one request: those of the prompt with those that may be sampled, or those of all datums. */
  readonly tokens: number
  /** Tokens of the gradients that wait for a model's optimizer step. */
  readonly pendingTokens: number
  /** Requests of all clients that wait for their result. */
  readonly openRequests: number
  /** Sessions of all clients; one that is silent ends by itself. */
  readonly sessions: number
  /** Models of all clients. */
  readonly models: number
  /** Bytes of a request's body, as sent and once more when decompressed. */
  readonly bodyBytes: number
}

export const limits: Limits = {
  samples: 256,
  datums: 8192,
  tokens: 2_000_000,
  pendingTokens: 16_000_000,
  openRequests: 4096,
  sessions: 256,
  models: 64,
  bodyBytes: 16 * 2 ** 20
}
