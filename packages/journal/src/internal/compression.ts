import { Effect, Result } from "effect"
import { promisify } from "node:util"
import { constants, zstdCompress, zstdDecompressSync } from "node:zlib"

/** Texts below this many bytes are stored as they are: compressing them takes longer than writing them. */
const threshold = 4096

/** The first bytes of every zstd frame; no JSON text begins with them. */
const magic = [0x28, 0xb5, 0x2f, 0xfd]

/** Whether a text is stored compressed. */
export const isLong = (text: Uint8Array): boolean => text.length >= threshold

/** A JSON text in UTF-8 as it is stored: compressed with zstd, on another thread, when it is long. */
export const compress = (text: Uint8Array): Effect.Effect<Uint8Array> =>
  isLong(text) ? Effect.promise(() => zstd(text, options)) : Effect.succeed(text)

/** The bytes that one text may have, so that none that was planted fills the memory. */
export const largest = 2 ** 28

/** The text of what {@link compress} made; a failure when the bytes are damaged, or would be more than {@link largest}. */
export const decompress = (stored: Uint8Array): Result.Result<Uint8Array, unknown> =>
  Result.try(() =>
    magic.every((byte, at) => stored[at] === byte) ? zstdDecompressSync(stored, { maxOutputLength: largest }) : stored
  )

const zstd = promisify(zstdCompress)
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
