/** GPT-2's character for each byte: printable Latin-1 stays itself, the rest moves to U+0100 and up. */
export const byteCharacters: ReadonlyArray<string> = (() => {
  const stays = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff)
  let moved = 0
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(stays(byte) ? byte : 0x100 + moved++))
})()

/** A text as the characters of its bytes. */
export const characters = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => byteCharacters[byte]).join("")
