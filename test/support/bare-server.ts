import { once } from "node:events";
import type { RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Callers } from "../../src/http/caller.js";
import { createHttpServer } from "../../src/http/server.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "./manual-clock.js";
import { NOW } from "./world.js";

/** The shortest request. */
export const REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

type Options = Partial<Parameters<typeof createHttpServer>[1]> & { trustedProxies?: readonly string[] };

/** A server with a listener of its own, and what it has accepted. */
export async function openServer(t: TestContext, listener: RequestListener, options: Options = {}) {
  const clock = new ManualClock(NOW);
  const { trustedProxies = [], ...rest } = options;
  const { server, close } = createHttpServer(listener, {
    baseUrl: "http://127.0.0.1",
    isLimited: options.perAddress !== undefined,
    callers: new Callers(trustedProxies),
    clock,
    log: createLog("silent"),
    ...rest,
  });
  const accepted: Socket[] = [];
  server.on("connection", (socket: Socket) => accepted.push(socket));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  t.after(async () => {
    for (const client of clients) client.destroy();
    if (server.listening) await close(0);
  });
  /** Connects and sends some bytes. What the client receives stays unread until it is resumed. */
  const dial = async (bytes = "", localAddress = "127.0.0.1"): Promise<Socket> => {
    const client = connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen: true });
    client.pause().on("error", () => {});
    clients.push(client);
    // A refused one is reset, maybe before this side has noticed that it is open.
    await once(client, "connect").catch(() => {});
    if (bytes !== "") client.write(bytes);
    return client;
  };
  /** Waits for the server to have accepted and not yet closed this many connections. */
  const untilOpen = async (count: number) => {
    while (accepted.filter(({ destroyed }) => !destroyed).length !== count) await setImmediate();
  };
  return { clock, accepted, port, close, dial, untilOpen };
}
