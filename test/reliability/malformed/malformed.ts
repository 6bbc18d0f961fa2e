/** Holds the responses to malformed requests against what they must be, directly and behind a proxy. */

import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Random } from "../../../bench/synthetic/random.js";
import { type RawResponse, takeResponse } from "../fuzz/connection.js";

export interface MalformedResult {
  sent: number;
  refused: number;
  /** Broken rules, each with its case; the first of each kind. */
  failures: readonly string[];
}

export interface MalformedOptions {
  port: number;
  seed: number;
  /** Rounds over the list of forbidden forms, and requests with changed bytes after each. */
  rounds: number;
  changed: number;
  /** A proxy may repair a form before it passes it on, and may respond itself. */
  isBehindProxy: boolean;
}

/** Responds only to the hidden request. */
const isHidden = ({ body }: RawResponse): boolean => body.toString().startsWith('{"data":{"status":');

/** Sends every forbidden form and many changed requests; after each, the server must respond to a good one. */
export async function sendMalformed(options: MalformedOptions): Promise<MalformedResult> {
  const { port, seed, rounds, changed, isBehindProxy } = options;
  const random = new Random(seed);
  const failures = new Map<string, string>();
  let sent = 0;
  let refused = 0;
  const check = async (one: RawCase) => {
    sent++;
    const fail = (message: string) => {
      const kind = `${one.name}: ${message}`;
      if (!failures.has(kind))
        failures.set(kind, `seed ${seed}, ${kind}\n  ${JSON.stringify(one.bytes.slice(0, 1_500))}`);
    };
    try {
      const isRefused = one.expected === "refused";
      // A forbidden form must end the connection without our help.
      const { responses, isClosedByServer } = await exchange(
        port,
        packets(random, one.bytes),
        !isRefused || isBehindProxy,
      );
      for (const { status } of responses)
        if (status >= 500 && !isProxyRefusal(status, isBehindProxy)) fail(`responded ${status}`);
      // A proxy that reads such a form in its own way passes on what it has understood.
      if (isRefused && !isBehindProxy) {
        if (responses.some(isHidden)) fail("a part of the body was obeyed as a request");
        checkRefusal(one, responses, isClosedByServer, fail);
      }
      if (responses.some(({ status }) => status >= 400)) refused++;
      await checkAlive(port, sent, fail);
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
  };
  for (let round = 0; round < rounds; round++) {
    for (const one of forbiddenCases(random)) await check(one);
    for (let i = 0; i < changed; i++) await check(changedCase(random));
  }
  return { sent, refused, failures: [...failures.values()] };
}

/** nginx refuses an unknown version by 505, and an unknown transfer coding by 501. */
function isProxyRefusal(status: number, isBehindProxy: boolean): boolean {
  return isBehindProxy && (status === 501 || status === 505);
}

function checkRefusal(
  { name }: RawCase,
  responses: readonly RawResponse[],
  isClosedByServer: boolean,
  fail: (message: string) => void,
): void {
  const last = responses.at(-1);
  const isSecond = name.startsWith("after a good request");
  // Where the first response is still being computed, the connection ends without one.
  if (last === undefined && isSecond && isClosedByServer) return;
  if (last === undefined || last.status < 400) fail(`responded ${last?.status ?? "nothing"}`);
  if (responses.length > (isSecond ? 2 : 1)) fail(`${responses.length} responses`);
  if (!isClosedByServer) fail("the connection stayed open");
}

/** Sends a request whose response belongs to no other: as many rows as it asks for. */
async function checkAlive(port: number, number: number, fail: (message: string) => void): Promise<void> {
  const limit = 1 + (number % 90);
  const bytes = `GET /api/repos?sort=stars&limit=${limit} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`;
  const { responses } = await exchange(port, [bytes], false);
  const [only] = responses;
  if (only?.status !== 200 || responses.length !== 1)
    return fail(`afterwards a good request got ${only?.status}`);
  const { meta } = JSON.parse(only.body.toString());
  if (meta.limit !== limit)
    fail(`afterwards a request got the response of another: ${meta.limit}, not ${limit}`);
}

/** How long a connection that should be closed may stay open, in ms. */
const PATIENCE_MS = 20_000;

interface WireResult {
  responses: RawResponse[];
  /** Whether the server closed the connection while ours was still open. */
  isClosedByServer: boolean;
}

/**
 * Sends packets over a connection. With `endsFirst` our side ends after them, so that the server need not wait for the rest of a
 * request. Throws for bytes that are not a response.
 */
async function exchange(port: number, sent: readonly string[], endsFirst: boolean): Promise<WireResult> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const chunks: Buffer[] = [];
  let isClosedByServer = false;
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("end", () => {
    isClosedByServer = !endsFirst;
  });
  // A server may close while it is still being written to; what it said before counts.
  socket.on("error", () => {
    isClosedByServer = true;
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  const patience = setTimeout(() => socket.destroy(), PATIENCE_MS);
  for (const packet of sent) {
    if (socket.destroyed) break;
    socket.write(Buffer.from(packet, "latin1"));
    await setImmediate();
  }
  if (endsFirst) socket.end();
  await closed;
  clearTimeout(patience);
  return { responses: readAll(Buffer.concat(chunks)), isClosedByServer };
}

/** All responses in some bytes; what ends too early is left out. */
function readAll(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const taken = takeResponse(rest, "GET");
    if (taken === undefined) break;
    responses.push(taken.response);
    rest = taken.rest;
  }
  return responses;
}

/** Bytes to send, as Latin-1. */
interface RawCase {
  name: string;
  bytes: string;
  /**
   * `refused`: a form that must not be obeyed, after which the connection ends (RFC 9112, 2.2, 3.2, 5.1, 5.2, 6.1 and 6.3).
   * `any`: may be right or wrong; only crashes, server errors and mixed-up responses are faults.
   */
  expected: "refused" | "any";
}

/** A request that no other one is made of: where its response arrives, bytes of a body were read as a request. */
const HIDDEN = "GET /healthz HTTP/1.1\r\nHost: a.example\r\n\r\n";

const HOST = "Host: a.example\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";

const get = (target: string, headers = HOST): string => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;
const post = (headers: string, body: string): string =>
  `POST /api/watchlists HTTP/1.1\r\n${HOST}${JSON_TYPE}${headers}\r\n${body}`;

const TARGETS = [
  "/api/repos?limit=3",
  "/api/search/suggest?q=a",
  "/explore?sort=stars",
  "/api/repos/github/a/one",
  "/robots.txt",
  "/api/embed/badge.svg?repo=github:a/one",
];

/** Header lines of which each alone makes a request malformed. */
const BAD_LINES: readonly (readonly [string, string])[] = [
  ["a folded line", "X-Folded: a\r\n b\r\n"],
  ["a folded first line", " X-Folded: a\r\n"],
  ["a folded length", "Content-Length: 0\r\n 5\r\n"],
  ["a bare LF after a value", "X-Bare: a\n"],
  ["a bare LF in a value", "X-Bare: a\nX-More: b\r\n"],
  ["a bare CR in a value", "X-Bare: a\rb\r\n"],
  ["NUL in a value", "X-Nul: a\0b\r\n"],
  ["NUL in a name", "X-\0Nul: a\r\n"],
  ["a space before the colon", "X-Space : a\r\n"],
  ["a space before the colon of a length", "Content-Length : 5\r\n"],
  ["a name with a space", "X Space: a\r\n"],
  ["no name", ": a\r\n"],
  ["no colon", "X-Nothing\r\n"],
  ["a name that is not ASCII", "X-\xff: a\r\n"],
  ["a control character in a value", "X-Control: a\x01b\r\n"],
  ["a second Host", "Host: b.example\r\n"],
  ["a second Host with the same value", HOST],
  ["a second Host in capitals", "HOST: b.example\r\n"],
  ["16 kB of one header", `X-Long: ${"x".repeat(17_000)}\r\n`],
  ["thousands of headers", "X: y\r\n".repeat(4_000)],
  ["thousands of empty headers before a second Host", `${"a:\r\n".repeat(2_100)}Host: b.example\r\n`],
  ["an unknown Transfer-Encoding", "Transfer-Encoding: x\r\n"],
  ["a length that is no number", "Content-Length: x\r\n"],
  ["a length with a sign", "Content-Length: +5\r\n"],
  ["a negative length", "Content-Length: -1\r\n"],
  ["a length beyond all numbers", "Content-Length: 99999999999999999999999\r\n"],
  ["two lengths", "Content-Length: 0\r\nContent-Length: 5\r\n"],
  ["a list of lengths", "Content-Length: 0, 0\r\n"],
];

/** First lines that are none of HTTP/1.1. */
const BAD_STARTS: readonly (readonly [string, string])[] = [
  ["HTTP/0.9", "GET /api/repos\r\n\r\n"],
  ["HTTP/0.9 with headers", `GET /api/repos\r\n${HOST}\r\n`],
  ["HTTP/1.2", `GET /api/repos HTTP/1.2\r\n${HOST}\r\n`],
  ["HTTP/2.0", `GET /api/repos HTTP/2.0\r\n${HOST}\r\n`],
  ["HTTP/1.10", `GET /api/repos HTTP/1.10\r\n${HOST}\r\n`],
  ["a version in small letters", `GET /api/repos http/1.1\r\n${HOST}\r\n`],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\xff\xff"],
  ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
  ["a bare LF after the first line", `GET /api/repos HTTP/1.1\n${HOST}\r\n`],
  ["bare LFs everywhere", "GET /api/repos HTTP/1.1\nHost: a.example\n\n"],
  ["a space in the target", `GET /api/repos x HTTP/1.1\r\n${HOST}\r\n`],
  ["NUL in the target", `GET /api/re\0pos HTTP/1.1\r\n${HOST}\r\n`],
  ["no Host", "GET /api/repos HTTP/1.1\r\n\r\n"],
  ["a method in small letters", `get /api/repos HTTP/1.1\r\n${HOST}\r\n`],
  ["no method", ` /api/repos HTTP/1.1\r\n${HOST}\r\n`],
];

/** Bodies whose end can be read in two ways; the hidden request follows where one reading ends. */
const BAD_BODIES: readonly (readonly [string, string])[] = [
  ["a length and chunks", post(`Content-Length: 2\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${HIDDEN}`)],
  ["chunks and a length", post(`Transfer-Encoding: chunked\r\nContent-Length: 2\r\n`, `0\r\n\r\n${HIDDEN}`)],
  ["two lengths", post(`Content-Length: 2\r\nContent-Length: 3\r\n`, `{}${HIDDEN}`)],
  ["xchunked", post(`Transfer-Encoding: xchunked\r\n`, `0\r\n\r\n${HIDDEN}`)],
  ["chunked, identity", post(`Transfer-Encoding: chunked, identity\r\n`, `0\r\n\r\n${HIDDEN}`)],
  ["a vertical tab before chunked", post(`Transfer-Encoding: \x0bchunked\r\n`, `0\r\n\r\n${HIDDEN}`)],
  ["chunked after NUL", post(`Transfer-Encoding: \0chunked\r\n`, `0\r\n\r\n${HIDDEN}`)],
  ["a folded chunked", post(`Transfer-Encoding:\r\n chunked\r\n`, `0\r\n\r\n${HIDDEN}`)],
  ["a chunk without a size", post(`Transfer-Encoding: chunked\r\n`, `\r\n{}\r\n0\r\n\r\n${HIDDEN}`)],
  ["a chunk with a wrong size", post(`Transfer-Encoding: chunked\r\n`, `zz\r\n{}\r\n0\r\n\r\n${HIDDEN}`)],
  ["a chunk with a negative size", post(`Transfer-Encoding: chunked\r\n`, `-2\r\n{}\r\n0\r\n\r\n${HIDDEN}`)],
  ["a chunk with 0x", post(`Transfer-Encoding: chunked\r\n`, `0x2\r\n{}\r\n0\r\n\r\n${HIDDEN}`)],
  [
    "a chunk of more than 2^64",
    post(`Transfer-Encoding: chunked\r\n`, `10000000000000002\r\n{}\r\n0\r\n\r\n${HIDDEN}`),
  ],
  ["a chunk that ends late", post(`Transfer-Encoding: chunked\r\n`, `2\r\n{}xx0\r\n\r\n${HIDDEN}`)],
  ["chunks with bare LFs", post(`Transfer-Encoding: chunked\r\n`, `2\n{}\n0\n\n${HIDDEN}`)],
  ["a bare LF in a chunk extension", post(`Transfer-Encoding: chunked\r\n`, `2;x\n{}\r\n0\r\n\r\n${HIDDEN}`)],
];

/** Every form that must be refused, each at a random place of a good request. */
function forbiddenCases(random: Random): RawCase[] {
  const target = () => random.pick(TARGETS);
  const refused = (name: string, bytes: string): RawCase => ({ name, bytes, expected: "refused" });
  return [
    ...BAD_LINES.map(([name, line]) =>
      refused(name, get(target(), random.chance(0.5) ? HOST + line : `${HOST}X: y\r\n${line}`)),
    ),
    ...BAD_STARTS.map(([name, bytes]) => refused(name, bytes)),
    ...BAD_BODIES.map(([name, bytes]) => refused(name, bytes)),
    ...BAD_BODIES.map(([name, bytes]) => refused(`after a good request: ${name}`, get(target()) + bytes)),
  ];
}

/** Good requests, one after another. */
function goodRequests(random: Random): string {
  const kinds = [
    () => get(random.pick(TARGETS)),
    () =>
      get(
        random.pick(TARGETS),
        `${HOST}Accept: application/json\r\nIf-None-Match: "x"\r\nX-API-Key: sid_x\r\n`,
      ),
    () => post("Content-Length: 12\r\n", '{"name":"x"}'),
    () => post("Transfer-Encoding: chunked\r\n", '8\r\n{"name":\r\n4\r\n"x"}\r\n0\r\n\r\n'),
    () => get(`http://b.example${random.pick(TARGETS)}`),
    () => post("Content-Length: 2\r\nExpect: 100-continue\r\n", "{}"),
  ];
  return Array.from({ length: random.between(1, 3) }, () => random.pick(kinds)()).join("");
}

const PIECES = [
  "\r\n",
  "\n",
  "\r",
  "\0",
  " ",
  "\t",
  ":",
  ",",
  ";",
  "%",
  "0",
  "\r\n\r\n",
  "HTTP/1.1",
  "chunked",
  "\xff",
  HIDDEN,
];

/** Good requests with one to six bytes or pieces changed, or with something behind them that is no request. */
function changedCase(random: Random): RawCase {
  let bytes = goodRequests(random);
  if (random.chance(0.15)) {
    const noise = Array.from({ length: random.between(1, 200) }, () =>
      String.fromCharCode(random.between(0, 255)),
    );
    return { name: "noise after a request", bytes: bytes + noise.join(""), expected: "any" };
  }
  for (let i = random.between(1, 6); i > 0; i--) {
    const at = random.between(0, bytes.length);
    const [before, after] = [bytes.slice(0, at), bytes.slice(at)];
    const taken = random.between(0, 3);
    const piece = random.chance(0.5) ? random.pick(PIECES) : String.fromCharCode(random.between(0, 255));
    bytes = before + (random.chance(0.8) ? piece : "") + after.slice(taken);
  }
  return { name: "changed bytes", bytes, expected: "any" };
}

/** The bytes in one to eight packets, cut at random. */
function packets(random: Random, bytes: string): string[] {
  const cuts = Array.from({ length: random.between(0, 7) }, () => random.between(0, bytes.length));
  const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.slice(places[i], end));
}
