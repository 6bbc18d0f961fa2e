import assert from "node:assert/strict";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { createTransport } from "../../src/forges/transport.js";

const signal = new AbortController().signal;

async function startSite() {
  const server = createServer((_, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(resolve)) };
}

test("requests go through the proxy with its credentials, except to hosts that it is not for", async (t) => {
  const [proxy, site] = [await startProxy(), await startSite()];
  const address = proxy.url.replace("http://", "http://user:pass%20word@");
  t.after(() => Promise.all([proxy.close(), site.close()]));
  const open = (except: string) =>
    createTransport({
      origins: [site.url],
      mayBePrivate: true,
      userAgent: "test",
      proxy: { http: address, https: null, except },
    });
  const through = open("");
  assert.equal((await through.fetch(`${site.url}/x`, { signal })).text, "{}");
  assert.deepEqual(proxy.asked, [`GET ${site.url}/x`]);
  assert.deepEqual([...proxy.credentials], [`Basic ${Buffer.from("user:pass word").toString("base64")}`]);
  const direct = open("example.org, 127.0.0.1");
  assert.equal((await direct.fetch(`${site.url}/x`, { signal })).text, "{}");
  assert.equal(proxy.connections, 1);
  await Promise.all([through.close(), direct.close()]);
});

test("an https site is reached by a tunnel, and no message shows the address of the proxy", async (t) => {
  const proxy = await startProxy(1);
  t.after(() => proxy.close());
  const transport = createTransport({
    origins: ["https://git.example"],
    mayBePrivate: false,
    userAgent: "test",
    proxy: { http: null, https: proxy.url.replace("http://", "http://user:hunter2@"), except: "" },
  });
  const failure = await transport.fetch("https://git.example/x", { signal }).catch((error) => error);
  assert.equal(failure.kind, "unreachable");
  assert.deepEqual(proxy.asked, ["CONNECT git.example:443"]);
  assert.match(failure.message, /git\.example: no response, with a proxy configured/);
  assert.doesNotMatch(failure.message, /hunter2|127\.0\.0\.1/);
  await transport.close();
});

test("an address in a private network is refused through a proxy too, and the message names the setting", async (t) => {
  const proxy = await startProxy();
  t.after(() => proxy.close());
  for (const settings of [undefined, { http: proxy.url, https: proxy.url, except: "" }]) {
    const transport = createTransport({
      origins: ["http://10.0.0.7", "https://[fe80::1]"],
      mayBePrivate: false,
      privateSetting: "SIDEREAL_WORK_PRIVATE",
      userAgent: "test",
      proxy: settings,
    });
    for (const url of ["http://10.0.0.7/x", "https://[fe80::1]/x"])
      await assert.rejects(transport.fetch(url, { signal }), {
        kind: "unreachable",
        message: /not on the public internet; SIDEREAL_WORK_PRIVATE=true allows it$/,
      });
    await transport.close();
  }
  assert.equal(proxy.connections, 0);
});

/** A forward proxy on this machine. */
interface LossyProxy {
  url: string;
  /** Connections so far, and how many of them were dropped without a response. */
  connections: number;
  dropped: number;
  /** What it was asked for: `GET http://host/path` or `CONNECT host:port`. */
  asked: string[];
  /** `Proxy-Authorization` headers. */
  credentials: Set<string>;
  close(): Promise<void>;
}

/** Starts a proxy that uses a connection for one request, and drops every `each`-th; 0: none. */
async function startProxy(each = 0): Promise<LossyProxy> {
  const sockets = new Set<Socket>();
  const isDropped = (incoming: IncomingMessage): boolean => {
    proxy.connections++;
    proxy.asked.push(`${incoming.method} ${incoming.url}`);
    proxy.credentials.add(incoming.headers["proxy-authorization"] ?? "");
    if (each === 0 || proxy.connections % each !== 0) return false;
    proxy.dropped++;
    incoming.socket.destroy();
    return true;
  };
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isDropped(incoming)) return;
    const { "proxy-authorization": _, "proxy-connection": __, ...headers } = incoming.headers;
    const onward = request(incoming.url ?? "", { method: incoming.method ?? "GET", headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, { ...response.headers, connection: "close" });
      response.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  };
  const server = createServer(forward);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    if (isDropped(incoming)) return;
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    for (const end of [onward, socket]) end.on("error", () => [onward, socket].map((one) => one.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const proxy: LossyProxy = {
    url: `http://127.0.0.1:${port}`,
    connections: 0,
    dropped: 0,
    asked: [],
    credentials: new Set(),
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}
