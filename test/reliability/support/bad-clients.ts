/** Clients that hold connections without using them properly. None of them closes by itself when the server does. */
import { createConnection, type OnReadOpts, type Socket } from "node:net";

/** What bad clients need to know of the server. */
export interface Victim {
  host: string;
  port: number;
  /** The path of a response that costs nothing, larger than a few kilobytes. */
  path: string;
}

/** What one kind of bad client does on a connection that is open. `every` runs it each second until the connection closes. */
export type BadClient = (client: {
  socket: Socket;
  victim: Victim;
  every: (step: () => void) => void;
}) => void;

const requestOf = ({ host, path }: Victim) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

/** Requests ahead of their responses, fewer than one connection may send. */
const AHEAD = 20;

export const BAD_CLIENTS = {
  "sends nothing": () => {},
  "sends its head slowly": ({ socket, victim, every }) => {
    socket.write(`GET / HTTP/1.1\r\nHost: ${victim.host}\r\nX-Slow: `);
    every(() => void socket.write("x"));
  },
  "sends its body slowly": ({ socket, victim, every }) => {
    const length = "Content-Type: application/json\r\nContent-Length: 10000";
    socket.write(`POST /api/watchlists HTTP/1.1\r\nHost: ${victim.host}\r\n${length}\r\n\r\n{`);
    every(() => void socket.write(" "));
  },
  "never reads": ({ socket, victim }) => {
    socket.pause();
    socket.write(requestOf(victim).repeat(AHEAD));
  },
  "reads a byte a second": ({ socket, victim, every }) => {
    socket.pause();
    socket.write(requestOf(victim).repeat(AHEAD));
    every(() => void socket.resume());
  },
  "sends requests without reading": ({ socket, victim, every }) => {
    socket.pause();
    const send = () => void socket.write(requestOf(victim).repeat(100));
    send();
    every(send);
  },
  "ends its side and stays": ({ socket, victim }) => {
    socket.pause();
    socket.end(requestOf(victim).repeat(AHEAD));
  },
  "resets while a response is sent": ({ socket, victim }) => {
    socket.pause();
    socket.write(requestOf(victim).repeat(AHEAD));
    setTimeout(() => socket.resetAndDestroy(), 500).unref();
  },
  "is idle after a request": ({ socket, victim }) => {
    socket.resume();
    socket.write(requestOf(victim));
  },
  "speaks TLS": ({ socket }) => {
    socket.resume();
    socket.write(Buffer.from("16030100c8010000c40303", "hex"));
  },
} satisfies Record<string, BadClient>;

export type BadKind = keyof typeof BAD_CLIENTS;
export const BAD_KINDS = Object.keys(BAD_CLIENTS) as BadKind[];

/** Opens a bad connection. It emits `close` only where the server resets it, or where this side destroys it. */
export function openBad(kind: BadKind, victim: Victim, localAddress: string): Socket {
  // Only a buffer of its own size reads single bytes from the system.
  const onread: OnReadOpts = { buffer: Buffer.alloc(1), callback: () => false };
  const isTrickling = kind === "reads a byte a second";
  const { host, port } = victim;
  const options = { host, port, localAddress, allowHalfOpen: true, ...(isTrickling ? { onread } : {}) };
  const socket = createConnection(options);
  socket.on("error", () => {});
  socket.once("connect", () => {
    const client: BadClient = BAD_CLIENTS[kind];
    client({
      socket,
      victim,
      every: (step) => {
        const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : step()), 1_000);
        timer.unref();
        socket.once("close", () => clearInterval(timer));
      },
    });
  });
  return socket;
}
