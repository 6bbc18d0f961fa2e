import type pg from "pg";

/** Bytes that may wait for their reader before the server has to. */
const MAX_WAITING = 4 * 1_048_576;

/** What the client calls while it runs a statement of ours. */
interface CopyHandlers {
  submit(connection: pg.Connection): void;
  handleError(error: Error): void;
  handleReadyForQuery(): void;
  handleCommandComplete(): void;
}

/** The parts of the connection that copying needs and the types of the client leave out. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Uint8Array): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

/** Runs `copy … to stdout` and yields its output. The client must not be used otherwise until the end. */
export async function* copyOut(client: pg.Client, text: string): AsyncGenerator<Uint8Array> {
  const waiting: Uint8Array[] = [];
  let [bytes, hasEnded] = [0, false];
  let failure: Error | undefined;
  let stream: pg.Connection["stream"] | undefined;
  let wake = () => {};
  const handlers: CopyHandlers & { handleCopyData(message: { chunk: Uint8Array }): void } = {
    submit(connection) {
      stream = connection.stream;
      connection.query(text);
    },
    handleCopyData({ chunk }) {
      // The client reuses the memory of its messages.
      waiting.push(Uint8Array.from(chunk));
      bytes += chunk.length;
      if (bytes > MAX_WAITING) stream?.pause();
      wake();
    },
    handleCommandComplete() {},
    handleError(error) {
      failure = error;
      hasEnded = true;
      wake();
    },
    handleReadyForQuery() {
      hasEnded = true;
      wake();
    },
  };
  client.query(handlers);
  for (;;) {
    if (waiting.length > 0) {
      const chunk = Buffer.concat(waiting.splice(0));
      bytes = 0;
      stream?.resume();
      yield chunk;
      continue;
    }
    if (failure !== undefined) throw failure;
    if (hasEnded) return;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

/** Runs `copy … from stdin` with the given bytes. */
export async function copyIn(
  client: pg.Client,
  text: string,
  data: AsyncIterable<Uint8Array>,
): Promise<void> {
  const began = Promise.withResolvers<CopyConnection>();
  const ended = Promise.withResolvers<void>();
  let failure: Error | undefined;
  let stream: pg.Connection["stream"] | undefined;
  const handlers: CopyHandlers & { handleCopyInResponse(connection: CopyConnection): void } = {
    submit(connection) {
      stream = connection.stream;
      connection.query(text);
    },
    handleCopyInResponse: (connection) => began.resolve(connection),
    handleCommandComplete() {},
    handleError(error) {
      failure = error;
      began.reject(error);
      ended.reject(error);
    },
    handleReadyForQuery: () => ended.resolve(),
  };
  // The failure is thrown where these are awaited below.
  began.promise.catch(() => {});
  ended.promise.catch(() => {});
  client.query(handlers);
  const connection = await began.promise;
  try {
    for await (const chunk of data) {
      if (failure !== undefined) break;
      connection.sendCopyFromChunk(chunk);
      if ((stream?.writableLength ?? 0) > MAX_WAITING) await drained(stream);
    }
    connection.endCopyFrom();
  } catch (error) {
    // The server ends the statement with this error.
    connection.sendCopyFail("the backup cannot be read");
    await ended.promise.catch(() => {});
    throw error;
  }
  await ended.promise;
}

function drained(stream: pg.Connection["stream"] | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stream?.off("drain", end).off("close", end);
      resolve();
    };
    stream?.on("drain", end).on("close", end);
  });
}
