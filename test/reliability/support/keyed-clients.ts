import { Agent, get } from "node:http";
import { text } from "node:stream/consumers";

/** What some clients have received. */
export interface Received {
  /** Complete responses. */
  complete: number;
  /** Of these, those that announced the end of their connection. */
  closing: number;
  /** Responses that ended early. */
  cut: number;
  /** Requests without a response, on connections that had already carried others. */
  lost: number;
  /** Requests without a response, on connections of their own: most of them were not accepted any more. */
  refused: number;
  /** Statuses other than 200, and the 503 with which a service on a busy machine refuses what has waited for half a second. */
  unexpected: number[];
}

export interface Clients {
  received: Received;
  /** Resolves when this many responses have been received. */
  until(responses: number): Promise<void>;
  /** Ends all clients, each after its current request. */
  stop(): Promise<void>;
}

/** What they request: cached, and computed each time. */
const PATHS = [
  () => "/api/repos?sort=stars",
  (n: number) => `/api/repos?q=${n.toString(36)}`,
  () => "/api/stats/summary",
  (n: number) => `/api/repos?sort=stars&page=${1 + (n % 90)}`,
];

/** Starts clients that send requests with a key, each on a connection that it keeps, and one after the other. */
export function startKeyedClients(url: string, key: string, count: number): Clients {
  const received: Received = { complete: 0, closing: 0, cut: 0, lost: 0, refused: 0, unexpected: [] };
  const waiting: { responses: number; resolve: () => void }[] = [];
  let isStopping = false;
  const client = async (number: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let sent = number; !isStopping; sent += count) {
      const path = PATHS[sent % PATHS.length]?.(sent) ?? "/";
      // A client whose connections are refused would only burn time.
      if ((await request(url + path, { key, agent }, received)) === "refused") break;
      for (const { responses, resolve } of waiting) if (received.complete >= responses) resolve();
    }
    agent.destroy();
  };
  const running = Array.from({ length: count }, (_, number) => client(number));
  return {
    received,
    until: (responses) => new Promise((resolve) => waiting.push({ responses, resolve })),
    async stop() {
      isStopping = true;
      await Promise.all(running);
    },
  };
}

/** Sends one request and notes what comes of it. */
async function request(
  url: string,
  { key, agent }: { key: string; agent: Agent },
  received: Received,
): Promise<keyof Received> {
  const sent = get(url, { agent, headers: { "X-API-Key": key } });
  const outcome = await new Promise<keyof Received>((resolve) => {
    sent.once("error", () => resolve(sent.reusedSocket ? "lost" : "refused"));
    sent.once("response", (response) => {
      const { statusCode = 0 } = response;
      if (statusCode !== 200 && statusCode !== 503) received.unexpected.push(statusCode);
      if (response.headers.connection === "close") received.closing++;
      text(response).then(
        () => resolve(response.complete ? "complete" : "cut"),
        () => resolve("cut"),
      );
    });
  });
  if (outcome !== "unexpected") received[outcome]++;
  return outcome;
}
