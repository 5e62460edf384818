/** A text without the credentials and keys of the addresses in it. */
export const withoutCredentials = (text: string): string =>
  text
    .replaceAll(/(?<=\w:\/\/)[^/\s@"']+@/gu, "")
    .replaceAll(
      /(?<=(?:^|[?&])[^=&\s]*(?:auth|credential|key|password|secret|sig|token)[^=&\s]*=)[^&\s"']+/giu,
      "REDACTED"
    )
