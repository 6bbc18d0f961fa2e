/** Makes requests: good ones, those with a few things wrong, and those of which little is right. */
import type { Random } from "../../../bench/synthetic/random.js";
import { createToken, type TokenPrefix } from "../../../src/lib/tokens.js";
import { nameOf, type Operation, type Parameter } from "./operations.js";
import type { FuzzRequest } from "./request.js";
import { type Known, nearJson, nearText, validJson, validText } from "./schema-values.js";
import { knownValue, type Picked, pick, type Stock } from "./stock.js";
import { changed, hostile } from "./values.js";

/** How much of a request is right. `valid`: everything; `near`: all but a few parts; `wild`: hardly anything. */
type Kind = "valid" | "near" | "wild";

/** Pictures as PNG take as long to draw as fifty other requests. */
const SELDOM = new Map([
  ["/api/embed/card.png", 0.1],
  ["/api/embed/chart.png", 0.1],
]);

export class Generator {
  readonly #random: Random;
  readonly #operations: readonly (readonly [Operation, number])[];

  constructor(random: Random, operations: readonly Operation[]) {
    this.#random = random;
    this.#operations = operations.map((operation) => [operation, SELDOM.get(operation.path) ?? 1]);
  }

  next(stock: Stock): FuzzRequest {
    const random = this.#random;
    const kind = random.weighted([["valid", 40] as const, ["near", 45] as const, ["wild", 15] as const]);
    const request = this.make(random.weighted(this.#operations), kind, stock);
    const isLinked = stock.targets.length > 0 && random.chance(0.01);
    return isLinked
      ? { ...request, method: "GET", target: random.pick(stock.targets), body: undefined }
      : request;
  }

  /** A request for one operation. */
  make(operation: Operation, kind: Kind, stock: Stock): FuzzRequest {
    const random = this.#random;
    const picked = pick(random, stock, operation.path);
    const known: Known = (name) => this.#known(stock, picked, operation, name);
    const body = this.#body(operation, kind, known);
    const method = kind === "valid" ? operation.method : this.#method(operation);
    return {
      operation: nameOf(operation),
      method: method === "GET" && random.chance(0.05) ? "HEAD" : method,
      target: this.#target(operation, kind, known),
      headers: headersOf(random, {
        operation,
        isValid: kind === "valid",
        stock,
        picked,
        hasBody: body !== undefined,
      }),
      body,
      isChunked: body !== undefined && random.chance(0.1),
    };
  }

  #known(stock: Stock, picked: Picked, { path }: Operation, name: string): string | undefined {
    // A path parameter called `id` or `name` means different things.
    if (name === "id" && path.includes("/keys/")) return knownValue(this.#random, stock, picked, "keyId");
    if (name === "id" && path.includes("/passkeys/"))
      return knownValue(this.#random, stock, picked, "passkeyId");
    if (name === "id" && path.includes("/sessions/")) return picked.member.sessionId;
    if (name === "name" && path.startsWith("/assets/")) return "sidereal.css";
    if (name === "name" && path.includes("{owner}")) return picked.repository.fullName.split("/").at(-1);
    if (name === "name" && path.includes("languages/")) return this.#random.pick(stock.languages);
    if (name === "name" && path.includes("topics/")) return this.#random.pick(stock.topics);
    return knownValue(this.#random, stock, picked, name);
  }

  #method({ method }: Operation): string {
    const random = this.#random;
    if (random.chance(0.92)) return method;
    return random.pick([
      "GET",
      "HEAD",
      "POST",
      "PUT",
      "PATCH",
      "DELETE",
      "OPTIONS",
      "TRACE",
      "PROPFIND",
      "QUERY",
    ]);
  }

  #target(operation: Operation, kind: Kind, known: Known): string {
    const random = this.#random;
    const path = this.#path(operation, kind, known);
    const query = this.#query(operation, kind, known);
    const target = query === "" ? path : `${path}?${query}`;
    if (kind !== "wild") return target;
    if (random.chance(0.1))
      return sendable(`http://${random.pick(["evil.example", "localhost:1", ""])}${target}`);
    return random.chance(0.3) ? sendable(changed(random, target)) : target;
  }

  #path({ path, parameters }: Operation, kind: Kind, known: Known): string {
    const random = this.#random;
    const schemas = new Map(
      parameters.filter((one) => one.in === "path").map((one) => [one.name, one.schema]),
    );
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const schema = schemas.get(name) ?? {};
      const isGood = kind === "valid" || (kind === "near" && random.chance(0.7));
      const text = isGood ? validText(random, schema, name, known) : this.#near({ name, schema }, known);
      return escaped(random, text, name === "fullName" || name === "part");
    });
    if (kind !== "wild" || random.chance(0.5)) return filled;
    const segments = filled.split("/");
    segments[random.between(1, segments.length - 1)] = escaped(random, hostile(random), false);
    return segments.join("/");
  }

  #near({ name, schema }: Pick<Parameter, "name" | "schema">, known: Known): string {
    const random = this.#random;
    if (name === "token" || name === "key") return wrongToken(random, known(name) ?? "");
    if (name === "cursor") return wrongCursor(random, known(name) ?? "");
    return nearText(random, schema, name, known);
  }

  #query({ parameters }: Operation, kind: Kind, known: Known): string {
    const random = this.#random;
    const inQuery = parameters.filter((one) => one.in === "query");
    const chance = Math.min(0.6, 3 / inQuery.length);
    const pairs: string[] = [];
    const add = (name: string, value: string) =>
      pairs.push(`${escaped(random, name, false)}=${escaped(random, value, false)}`);
    for (const parameter of inQuery) {
      const { name, schema, isRequired } = parameter;
      if (!random.chance(isRequired ? 0.97 : name === "cursor" ? chance / 4 : chance)) continue;
      const times = random.chance(0.9) ? 1 : schema.items || kind !== "valid" ? random.between(2, 25) : 1;
      const isGood = kind === "valid" || (kind === "near" && random.chance(0.75));
      for (let i = 0; i < (kind === "valid" ? Math.min(times, 6) : times); i++)
        add(name, isGood ? validText(random, schema, name, known) : this.#near(parameter, known));
    }
    if (kind !== "valid" && random.chance(0.15)) add(hostile(random), hostile(random));
    if (kind === "wild" && random.chance(0.1)) pairs.push(sendable(hostile(random)));
    return pairs.join("&");
  }

  #body({ body, form }: Operation, kind: Kind, known: Known): Buffer | undefined {
    const random = this.#random;
    if (body !== undefined) {
      const isGood = kind === "valid" || random.chance(0.3);
      const text = isGood
        ? JSON.stringify(validJson(random, body, "", known))
        : nearJson(random, body, known);
      return kind !== "valid" && random.chance(0.03) ? Buffer.from(text, "utf16le") : Buffer.from(text);
    }
    if (form !== undefined) {
      const names = form.filter(() => kind === "valid" || random.chance(0.9));
      const pairs = names.map((name) => {
        const value = validText(random, {}, name, known);
        const isGood = kind === "valid" || random.chance(0.5);
        return `${name}=${escaped(random, isGood ? value : this.#near({ name, schema: {} }, known), false)}`;
      });
      if (kind !== "valid" && random.chance(0.2)) pairs.push(`${hostile(random)}=${hostile(random)}`);
      return Buffer.from(pairs.join("&"));
    }
    return kind !== "valid" && random.chance(0.03) ? Buffer.from(hostile(random)) : undefined;
  }
}

/** A token that is not the given one: another kind, unknown with the right checksum, or damaged. */
export function wrongToken(random: Random, token: string): string {
  const prefix = random.pick<TokenPrefix>(["sid", "sidl", "sidw", "sidr", "sidf"]);
  if (random.chance(0.3)) return createToken(prefix);
  return random.chance(0.7) ? changed(random, token) : hostile(random);
}

const KEYS = [0, 1, -1, 2 ** 31, 2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 53, 1e300, 0.5, null, "1"];

/** A cursor whose row was changed. */
function wrongCursor(random: Random, cursor: string): string {
  if (random.chance(0.3)) return changed(random, cursor);
  let fingerprint: unknown = "x";
  try {
    fingerprint = JSON.parse(Buffer.from(cursor, "base64url").toString())[0];
  } catch {
    // It was not a cursor.
  }
  const row = [fingerprint, random.pick(KEYS), random.pick(KEYS)];
  return Buffer.from(JSON.stringify(row)).toString("base64url");
}

/** A text in an address, escaped as browsers do it, as if everything were special, or, now and then, not at all. */
function escaped(random: Random, text: string, keepsSlashes: boolean): string {
  const whole = encodeURIComponent(text.toWellFormed());
  if (random.chance(0.04)) return sendable(text);
  if (random.chance(0.04))
    return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  return keepsSlashes && random.chance(0.8) ? whole.replaceAll("%2F", "/") : whole;
}

/** The bytes of a text without those that would end the request line. */
export function sendable(text: string): string {
  return Buffer.from(text)
    .toString("latin1")
    .replaceAll(/[\r\n ]/g, "+");
}

interface HeaderContext {
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
function headersOf(random: Random, context: HeaderContext): Headers {
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
