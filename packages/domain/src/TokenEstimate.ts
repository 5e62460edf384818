/**
 * How many tokens a text has, without its tokenizer: a third of its UTF-8 bytes, rounded up. English prose has about four
 * bytes to a token, so this rather says too many; names, numbers and other scripts come closer to it.
 */
export const estimate = (text: string): number => Math.ceil(Buffer.byteLength(text, "utf8") / 3)
