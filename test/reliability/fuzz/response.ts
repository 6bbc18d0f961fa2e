/** Reads the head of a response strictly: whatever an HTTP/1.1 server must not send is an error. */
export interface RawHead {
  status: number;
  /** By name in lower case; values of repeated headers joined by commas. */
  headers: Map<string, string>;
}

/** Headers that may have several lines. */
const REPEATABLE = new Set(["set-cookie", "link", "vary"]);

/** The status and headers in the text of a head. Throws for what the grammar of RFC 9112 does not allow. */
export function readHead(text: string): RawHead {
  const [statusLine = "", ...lines] = text.split("\r\n");
  const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]+$/.exec(statusLine)?.[1]);
  if (!(status >= 100)) throw new Error(`not a status line: ${JSON.stringify(statusLine.slice(0, 100))}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, given, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? [];
    if (given === undefined || value === undefined)
      throw new Error(`not a header line: ${JSON.stringify(line.slice(0, 200))}`);
    const name = given.toLowerCase();
    const known = headers.get(name);
    if (known !== undefined && !REPEATABLE.has(name)) throw new Error(`two lines of ${given}`);
    headers.set(name, known === undefined ? value : `${known}, ${value}`);
  }
  return { status, headers };
}

/** Whether a response has no body whatever its headers say. */
export function isBodiless(status: number, method: string): boolean {
  return method === "HEAD" || status === 204 || status === 304;
}
