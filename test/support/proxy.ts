import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";

/** A forward proxy on this machine. */
export interface LossyProxy {
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
export async function startProxy(each = 0): Promise<LossyProxy> {
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
