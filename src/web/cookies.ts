import { cookieScope } from "../base-url.js";

/** A cookie that pages set besides the session: read by the server only, not by scripts or other sites. */
export interface Note {
  /** Without its prefix. */
  name: string;
  /** Below the base URL. */
  path: string;
  seconds: number;
}

/** The value of a note in a Cookie header. */
export function readNote(note: Note, cookie: string | null, baseUrl: string): string | undefined {
  const wanted = `${cookieScope(baseUrl, note.path).prefix}${note.name}=`;
  return cookie
    ?.split(/; ?/)
    .find((one) => one.startsWith(wanted))
    ?.slice(wanted.length);
}

/** The Set-Cookie header of a note; undefined deletes it. Values consist of letters, digits, `.`, `-` and `_`. */
export function writeNote(note: Note, value: string | undefined, baseUrl: string): string {
  const { prefix, path, secure } = cookieScope(baseUrl, note.path);
  const seconds = value === undefined ? 0 : note.seconds;
  return `${prefix}${note.name}=${value ?? ""}; Max-Age=${seconds}; Path=${path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}
