/** The limits of requests. A larger request is refused with the field, its size and the limit. */

/** The body of a request, in bytes. */
export const bodyBytes = 4 * 2 ** 20
/** Leases in one request: a training step of 1,024 groups. */
export const leasesPerRequest = 1024
/** Instructions that one question is asked under. */
export const instructionsPerRequest = 64
/** Samples that one lease covers. */
export const samplesPerLease = 1024
/** Rewards in one request. */
export const rewardsPerRequest = 1024
/** The name of a population, a cohort, a key, a stratum, in characters. */
export const nameLength = 200
/** The name of a lease, which holds those of its population, cohort and key, in characters. */
export const leaseLength = 8192
/** An instruction, or one of its texts, in characters. */
export const textLength = 65_536
/** The named texts of one instruction. */
export const textsPerInstruction = 64
/** Textual feedback on a sample, a question or a golden answer, in characters. */
export const feedbackLength = 16_384
/** The transcript of a sample, in characters. */
export const transcriptLength = 262_144
/** The messages of a transcript. */
export const messagesPerTranscript = 1024
/** Golden answers to a question. */
export const goldenAnswers = 64
/** Instructions of a new population in addition to its seed. */
export const variants = 64
/** Numbers of one sample besides its reward. */
export const metrics = 16
/** Events in one answer. */
export const eventsPerAnswer = 1000
/** Populations of a server. */
export const populations = 1000
/** Requests that are handled at a time; further ones are refused with `Retry-After`. */
export const requestsWaiting = 2048
/** Markers in one request to a language model, whose instructions may be long. */
export const markersPerRequest = 64
/** Requests to a language model that are forwarded at a time; further ones are refused with `Retry-After`. */
export const requestsProxied = 1024
/** The bytes of their bodies. */
export const bytesProxied = 256 * 2 ** 20
/** Requests per second with the lease key, and the bytes of their bodies; the admin key has no such limit. */
export const requestsPerSecond = 5000
export const bytesPerSecond = 64 * 2 ** 20
/** Fields of one message of telemetry in protobuf. */
export const fieldsOfMessage = 65_536
/** Spans with a lease whose evaluations may come in later requests. */
export const spansRemembered = 16_384
