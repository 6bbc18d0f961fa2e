/** Holds the responses to malformed requests against what they must be, directly and behind a proxy. */
import { Random } from "../../../bench/synthetic/random.js";
import type { RawResponse } from "../fuzz/connection.js";
import { changedCase, forbiddenCases, packets, type RawCase } from "./requests.js";
import { exchange } from "./wire.js";

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
