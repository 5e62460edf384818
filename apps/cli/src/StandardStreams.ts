/** Whether an error of a stream means that its reader has closed it, such as `head` after its lines. */
export const isClosed = (code: unknown, isTerminal = false): boolean =>
  code === "EPIPE" || code === "ECONNRESET" || code === "ERR_STREAM_DESTROYED" || (isTerminal && code === "EIO")

/**
 * Lets a command continue after the reader of its output has closed. Output that is lost in another way, such as on a full
 * disk, results in exit code 1.
 */
export const guard = (): void => {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (isClosed(error.code, stream.isTTY) || process.exitCode === 1) return
      process.exitCode = 1
      if (stream === process.stdout)
        process.stderr.write(`inspo: Standard output cannot be written: ${error.message}.\n`)
    })
}
