/** The headers of generated requests. */
import type { Random } from "../../../bench/synthetic/random.js";
import { createToken } from "../../../src/lib/tokens.js";
import type { Operation } from "./operations.js";
import type { Picked, Stock } from "./stock.js";
import { changed, hostile } from "./values.js";

export interface HeaderContext {
  operation: Operation;
  isValid: boolean;
  stock: Stock;
  picked: Picked;
  hasBody: boolean;
}

type Headers = [string, string][];

const ACCEPTS = [
  "*/*",
  "application/json",
  "text/html,application/xhtml+xml",
  "application/problem+json",
  "image/svg+xml",
  "text/csv;q=0.5",
  "nonsense",
  "",
];
const HOSTS = ["evil.example", "localhost", "[::1]:1", "", "a:b", "127.1", "%00", "x".repeat(300)];
const ENCODINGS = [
  "gzip",
  "br",
  "zstd",
  "gzip, br;q=0.5",
  "identity;q=0",
  "*",
  "*;q=0",
  "gzip;q=1e9",
  "nonsense",
  "",
];

/** Headers for a request, Host included. */
export function headersOf(random: Random, context: HeaderContext): Headers {
  const { operation, stock, hasBody } = context;
  const { origin } = stock;
  const isElsewhere = !context.isValid && random.chance(0.03);
  const host = isElsewhere ? random.pick(HOSTS) : new URL(origin).host;
  const headers: Headers = [["Host", host]];
  const maybe = (chance: number, name: string, value: () => string) => {
    if (random.chance(chance)) headers.push([name, clean(value())]);
  };
  if (operation.form !== undefined || /^\/(?!api)/.test(operation.path))
    headers.push(["Accept", "text/html"]);
  else maybe(0.3, "Accept", () => random.pick(ACCEPTS));
  maybe(0.2, "Accept-Encoding", () => random.pick(ENCODINGS));
  maybe(0.1, "If-None-Match", () => etag(random, stock));
  addIdentity(random, context, headers);
  if (hasBody) {
    const type = operation.form === undefined ? "application/json" : "application/x-www-form-urlencoded";
    headers.push(["Content-Type", context.isValid || random.chance(0.9) ? type : wrongType(random)]);
  }
  const isChange = operation.method !== "GET";
  if (isChange && (context.isValid || random.chance(0.8))) headers.push(["Origin", origin]);
  else
    maybe(0.1, "Origin", () =>
      random.pick(["https://evil.example", "null", origin.toUpperCase(), hostile(random)]),
    );
  if (operation.parameters.some(({ name }) => name === "if-match"))
    maybe(context.isValid ? 0.1 : 0.5, "If-Match", () => (random.chance(0.3) ? "*" : etag(random, stock)));
  if (!context.isValid) addOddities(random, headers);
  return headers;
}

/** Session, API key, or both. */
function addIdentity(
  random: Random,
  { operation, isValid, stock, picked }: HeaderContext,
  headers: Headers,
): void {
  const { path } = operation;
  const needsSession = /\/api\/me|\/account|\/watchlist$|\/watchlist\/|sign-out/.test(path);
  // The browser that requested the link or code.
  if (picked.link !== undefined && path.startsWith("/sign-in"))
    headers.push(["Cookie", `sidereal.asked=${picked.link.requestToken}`]);
  else if (random.chance(needsSession || picked.ceremony !== undefined ? 0.9 : 0.1)) {
    const { cookie } = picked.ceremony ?? picked.member;
    headers.push(["Cookie", isValid || random.chance(0.6) ? cookie : clean(wrongCookie(random, cookie))]);
  }
  const needsKey = /^\/api\/(repos\.(csv|ndjson)|key\/)/.test(path);
  if (needsSession || !random.chance(needsKey ? 0.9 : 0.2)) return;
  const key = stock.keys.length === 0 ? createToken("sid") : random.pick(stock.keys);
  const sent = isValid || random.chance(0.5) ? key : clean(changed(random, key));
  if (random.chance(0.6))
    headers.push(["Authorization", `${random.chance(0.9) ? "Bearer " : hostile(random)}${sent}`]);
  else headers.push(["X-API-Key", sent]);
  if (!isValid && random.chance(0.2))
    headers.push(["X-API-Key", random.chance(0.5) ? sent : createToken("sid")]);
  for (const [i, [name, value]] of headers.entries()) headers[i] = [name, clean(value)];
}

function wrongCookie(random: Random, cookie: string): string {
  switch (random.between(0, 5)) {
    case 0:
      return changed(random, cookie);
    case 1:
      return `${cookie}; ${cookie}`;
    case 2:
      return `__proto__=1; constructor=2; ${cookie.replace("=", "=%")}`;
    case 3:
      return `sidereal.session_token=${hostile(random)}`;
    case 4:
      return `sidereal-pending=${hostile(random)}; sidereal-seen=${hostile(random)}; sidereal-asked=${hostile(random)}`;
    default:
      return `${"x=y; ".repeat(400)}${cookie}`;
  }
}

function etag(random: Random, { etags }: Stock): string {
  const known = etags.length === 0 ? '"x"' : random.pick(etags);
  return random.pick([
    known,
    known.replace(/^W\//, ""),
    `W/${known}`,
    `"a", ${known}, "b"`,
    `${known},`,
    "*",
    '"',
    "W/",
    `"${hostile(random)}"`,
    `${'"a",'.repeat(500)}${known}`,
  ]);
}

function wrongType(random: Random): string {
  return random.pick([
    "text/plain",
    "application/json; charset=utf-16",
    "application/json;charset=utf-8",
    "APPLICATION/JSON",
    "application/jsonp",
    "application/x-www-form-urlencoded; charset=x",
    "multipart/form-data; boundary=x",
    "",
    ";",
  ]);
}

function addOddities(random: Random, headers: Headers): void {
  const odd: readonly (readonly [string, () => string])[] = [
    [
      "X-Forwarded-For",
      () => random.pick(["1.2.3.4", "::1, ::ffff:1.2.3.4", "x".repeat(300), hostile(random)]),
    ],
    ["X-Forwarded-Host", () => "evil.example"],
    ["X-HTTP-Method-Override", () => "DELETE"],
    ["User-Agent", () => hostile(random)],
    ["Referer", () => hostile(random)],
    ["Range", () => "bytes=0-1"],
    ["If-Modified-Since", () => hostile(random)],
    ["If-Unmodified-Since", () => "Thu, 01 Jan 1970 00:00:00 GMT"],
    ["Content-Encoding", () => random.pick(["gzip", "identity", "br"])],
    [
      "Sec-Fetch-Site",
      () => random.pick(["cross-site", "same-origin", "none", "same-site", hostile(random)]),
    ],
    ["Expect", () => random.pick(["100-continue", "nonsense"])],
    ["Accept-Language", () => hostile(random)],
    ["Upgrade", () => "h2c"],
    ["TE", () => "trailers"],
    ["__proto__", () => "x"],
    ["constructor", () => "x"],
    ["Host", () => "second.example"],
    ["Cookie", () => "a=b"],
    ["Authorization", () => "Basic eDp5"],
  ];
  while (random.chance(0.25)) {
    const [name, value] = random.pick(odd);
    headers.push([name, clean(value())]);
  }
}

/** The bytes of a text that a header line may hold. */
function clean(text: string): string {
  return Buffer.from(text)
    .toString("latin1")
    .replaceAll(/[\0-\x08\x0a-\x1f\x7f]/g, "")
    .slice(0, 6_000);
}
