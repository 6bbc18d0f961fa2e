import { connect, createServer, type Socket } from "node:net";

/** A TCP relay on this machine, which can stand for every fault of a network between a program and a server. */
export interface Relay {
  port: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Accepts connections and takes bytes, but passes nothing on in either direction, as a network that drops packets. */
  stall(): void;
  /** Passes on again, including what was held back. */
  resume(): void;
  /** Destroys all connections; new ones are accepted. */
  cut(): void;
  /** Destroys all connections, and refuses new ones. */
  close(): Promise<void>;
  /** Accepts connections again, at the same port. */
  open(): Promise<void>;
}

/** Starts a relay to a server on this machine. `port`: where it listens; 0, any free port. */
export async function startRelay(serverPort: number, port = 0): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isStalled = false;
  const relay = { port, accepted: 0 };
  const server = createServer((socket) => {
    relay.accepted++;
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
        // What one side does, the other one does not learn while nothing is passed on.
        if (!isStalled) other.destroy();
      });
      if (isStalled) end.pause();
    }
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
  await listen(port);
  const address = server.address();
  relay.port = typeof address === "object" && address !== null ? address.port : 0;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return Object.assign(relay, {
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      isStalled = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
      await closed;
    },
    open: () => listen(relay.port),
  });
}
