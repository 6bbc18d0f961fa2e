/** A command to paste into a shell, with quotes around the words that need them: names of repositories may have any other sign. */
export function shellCommand(...words: readonly string[]): string {
  return words
    .map((word) => (/^[\w.:/@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
