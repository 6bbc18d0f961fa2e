/** Notes that pages leave in a browser, besides the session: read back by the server, and of no use to scripts or other sites. */
export interface Note {
  /** Without the prefix that browsers bind to encrypted connections. */
  name: string;
  path: string;
  seconds: number;
}

function fullName({ name, path }: Note, baseUrl: string): string {
  if (!baseUrl.startsWith("https:")) return name;
  return `${path === "/" ? "__Host-" : "__Secure-"}${name}`;
}

/** The value of a note in what a browser sends; undefined where it has none. */
export function readNote(note: Note, cookie: string | null, baseUrl: string): string | undefined {
  const wanted = `${fullName(note, baseUrl)}=`;
  return cookie
    ?.split(/; ?/)
    .find((one) => one.startsWith(wanted))
    ?.slice(wanted.length);
}

/** What sets a note; a value of undefined takes it away. Values are of letters, digits, `.`, `-` and `_`. */
export function writeNote(note: Note, value: string | undefined, baseUrl: string): string {
  const secure = baseUrl.startsWith("https:") ? "; Secure" : "";
  const seconds = value === undefined ? 0 : note.seconds;
  return `${fullName(note, baseUrl)}=${value ?? ""}; Max-Age=${seconds}; Path=${note.path}; HttpOnly; SameSite=Lax${secure}`;
}
