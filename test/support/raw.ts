import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before } from "node:test";
import { type Service, startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import type { Database } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, updateDerived } from "../../src/modules.js";
import type { Engine } from "./engines.js";
import { ManualClock } from "./manual-clock.js";
import { daily, GENEROUS, NOW, observation } from "./world.js";

/** The end of a request's headers, after which the server closes the connection. */
export const END = "Host: sidereal.example\r\nConnection: close\r\n\r\n";

/** A request without a body. */
export function get(target: string, method = "GET"): string {
  return `${method} ${target} HTTP/1.1\r\n${END}`;
}

/** A service on a port of its own, spoken to in bytes (a string stands for its Latin-1). */
export interface Wire {
  /** Every answer until the server closes the connection. */
  send(bytes: string): Promise<RawAnswer[]>;
  /** Sends each; fails unless it gets that status, once, and the server still answers. */
  expectEach(cases: readonly (readonly [string, number])[]): Promise<void>;
}

/** Starts a service with a small catalogue. It closes the database when it stops. */
export async function startSmallService(
  database: Database,
  env: Record<string, string> = {},
): Promise<Service> {
  const config = loadConfig({
    ...GENEROUS,
    SIDEREAL_PORT: "0",
    SIDEREAL_AUTH_SECRET: "s".repeat(40),
    SIDEREAL_BASE_URL: "https://sidereal.example",
    ...env,
  });
  const clock = new ManualClock(NOW);
  const modules = buildModules(database, { clock, log: createLog("silent") });
  await modules.catalog.record([
    observation("a/one", daily(1, 2), { facts: { language: "Go" } }),
    observation("b/two", daily(3, 4)),
    observation("group/sub/three", daily(5, 6), { provider: "GITLAB" }),
  ]);
  await updateDerived(modules);
  return startService({ config, clock, log: createLog("silent") }, modules);
}

/** Starts a service with a small catalogue before the tests of a suite, and stops it after them. */
export function onTheWire(engine: Engine, env: Record<string, string> = {}): Wire {
  let service: Service;
  before(async () => {
    service = await startSmallService(await engine.open(), env);
  });
  after(() => service.stop());

  const send = (bytes: string): Promise<RawAnswer[]> => exchange(service.port, bytes);
  return {
    send,
    async expectEach(cases) {
      for (const [bytes, status] of cases) {
        const shown = JSON.stringify(bytes.slice(0, 160));
        const answers = await send(bytes);
        const statuses = answers.map((answer) => answer.status);
        assert.deepEqual(statuses, [status], shown);
        if (status >= 400) for (const answer of answers) checkRefusal(answer, shown);
        const [alive] = await send(get("/healthz"));
        assert.equal(alive?.status, 200, `after ${shown}`);
      }
    },
  };
}

function checkRefusal({ headers, body }: RawAnswer, shown: string): void {
  // Refused by the parser, before there is a request to answer.
  if (body === "") return;
  const { data, error } = JSON.parse(body);
  assert.equal(data, null, shown);
  assert.match(error.requestId, /^[\w-]{12}$/, shown);
  assert.equal(headers["x-request-id"], error.requestId, shown);
  assert.equal(headers["x-content-type-options"], "nosniff", shown);
  assert.equal(headers["strict-transport-security"], "max-age=31536000", shown);
  assert.equal(
    headers["content-security-policy"],
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    shown,
  );
  assert.equal(headers["cache-control"], "no-store", shown);
  assert.doesNotMatch(body, /node_modules|\.js:|select /i, shown);
}

/** One answer as it came over the wire. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What a server answered to some bytes until it closed the connection; interim answers (1xx) are left out. */
async function exchange(port: number, bytes: string): Promise<RawAnswer[]> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  // A server may close while it is still being written to; what it said before counts.
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(Buffer.from(bytes, "latin1"));
  await once(socket, "close");
  return parseAnswers(Buffer.concat(chunks).toString("latin1"));
}

function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    const [statusLine = "", ...lines] = rest.slice(0, end === -1 ? undefined : end).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (!(status >= 100)) throw new Error(`not an answer: ${rest.slice(0, 80)}`);
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    rest = end === -1 ? "" : rest.slice(end + 4);
    // An answer to HEAD has the length of a body that does not follow, and here is always the last one.
    const isChunked = headers["transfer-encoding"] === "chunked";
    const length = Math.min(Number(headers["content-length"] ?? 0), rest.length);
    const [body, after] = isChunked ? unchunk(rest) : [rest.slice(0, length), rest.slice(length)];
    if (status >= 200) answers.push({ status, headers, body: Buffer.from(body, "latin1").toString() });
    rest = after;
  }
  return answers;
}

/** A chunked body without trailers, and what follows it. */
function unchunk(text: string): [string, string] {
  let body = "";
  let rest = text;
  for (;;) {
    const line = rest.indexOf("\r\n");
    const length = Number.parseInt(rest.slice(0, line), 16);
    const end = line + 2 + length;
    body += rest.slice(line + 2, end);
    rest = rest.slice(end + 2);
    if (!(length > 0)) return [body, rest];
  }
}
