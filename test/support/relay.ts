import { connect, createServer, type Socket } from "node:net";

/** A TCP relay on this machine, which can cut a program off from a server. */
export interface Relay {
  port: number;
  /** Destroys all connections; new ones are accepted. */
  cut(): void;
  /** Destroys all connections, and refuses new ones. */
  close(): Promise<void>;
  /** Accepts connections again, at the same port. */
  open(): Promise<void>;
}

/** Starts a relay to a server on this machine, on a free port. */
export async function startRelay(serverPort: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const relay = { port: 0 };
  const server = createServer((socket) => {
    const onward = connect(serverPort, "127.0.0.1");
    for (const [end, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(end);
      end.on("error", () => {});
      end.on("data", (bytes) => other.write(bytes));
      end.once("end", () => other.end());
      end.once("close", () => {
        sockets.delete(end);
        other.destroy();
      });
    }
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
  await listen(0);
  const address = server.address();
  relay.port = typeof address === "object" && address !== null ? address.port : 0;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return Object.assign(relay, {
    cut,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
      await closed;
    },
    open: () => listen(relay.port),
  });
}
