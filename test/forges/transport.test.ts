import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { type FailureKind, UpstreamFailure } from "../../src/forges/failures.js";
import { createTransport, type TransportOptions } from "../../src/forges/transport.js";
import { SELF_SIGNED } from "../support/certificate.js";

const ends: (() => unknown)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});

const signal = new AbortController().signal;

/** Starts a server for one test on a free port; returns its address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The same without HTTP, on the socket. */
async function serveRaw(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function transportTo(origin: string, options: Partial<TransportOptions> = {}) {
  const transport = createTransport({
    origins: [origin],
    mayBePrivate: true,
    userAgent: "sidereal-test",
    ...options,
  });
  ends.push(() => transport.close());
  return transport;
}

async function failsAs(kind: FailureKind, sent: Promise<unknown>, message: RegExp = /./): Promise<void> {
  await assert.rejects(sent, (error) => {
    assert.ok(error instanceof UpstreamFailure, String(error));
    assert.equal(error.kind, kind, error.message);
    assert.match(error.message, message);
    return true;
  });
}

test("requests and responses are transferred completely", async () => {
  const seen: unknown[] = [];
  const origin = await serve((request, response) => {
    const { method, url, headers } = request;
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      seen.push({ method, url, agent: headers["user-agent"], sent: headers.authorization, body });
      response.writeHead(201, { "X-RateLimit-Remaining": "7", link: "<a>; rel=next" }).end('{"é":1}');
    });
  });
  const answer = await transportTo(origin).fetch(`${origin}/api/x?y=%20z`, {
    method: "POST",
    headers: { Authorization: "Bearer t", "User-Agent": "another" },
    body: "{}",
    signal,
  });
  assert.deepEqual(seen, [
    { method: "POST", url: "/api/x?y=%20z", agent: "sidereal-test", sent: "Bearer t", body: "{}" },
  ]);
  assert.equal(answer.status, 201);
  assert.equal(answer.text, '{"é":1}');
  assert.equal(answer.headers.get("x-ratelimit-remaining"), "7");
});

test("a redirect is returned, not followed", async () => {
  const paths: unknown[] = [];
  const origin = await serve((request, response) => {
    paths.push(request.url);
    response.writeHead(301, { location: "/elsewhere" }).end();
  });
  const answer = await transportTo(origin).fetch(`${origin}/here`, { signal });
  assert.equal(answer.status, 301);
  assert.equal(answer.headers.get("location"), "/elsewhere");
  assert.deepEqual(paths, ["/here"]);
});

test("other origins are refused before anything is sent", async () => {
  let requests = 0;
  const origin = await serve((_request, response) => response.end("{}"));
  const other = await serve((_request, response) => {
    requests++;
    response.end("{}");
  });
  const { fetch } = transportTo(origin);
  const host = new URL(origin).host;
  for (const url of [
    other,
    `${origin.replace("http:", "https:")}/`,
    `http://user@${host}/`,
    `http://:secret@${host}/`,
    `${origin.replace("127.0.0.1", "localhost")}/`,
    `${origin}@${new URL(other).host}/`,
    `//${host}/`,
    "/relative",
    "",
    "file:///etc/passwd",
  ]) {
    await failsAs(
      "unreachable",
      fetch(url, { signal, headers: { authorization: "t" } }),
      /not on this instance/,
    );
  }
  assert.equal(requests, 0);
});

test("a token that cannot be a header is refused without being shown", async () => {
  const origin = await serve((_request, response) => response.end("{}"));
  const sent = transportTo(origin).fetch(origin, { signal, headers: { authorization: "geheim\nx" } });
  await assert.rejects(sent, (error) => {
    assert.ok(error instanceof UpstreamFailure);
    assert.equal(error.kind, "refused");
    assert.doesNotMatch(`${error.stack} ${error.cause}`, /geheim/);
    return true;
  });
});

for (const [encoding, body] of [
  ["gzip", gzipSync('{"a":1}')],
  ["br", brotliCompressSync('{"a":1}')],
  ["deflate", deflateSync('{"a":1}')],
  ["gzip, br", brotliCompressSync(gzipSync('{"a":1}'))],
  ["identity", Buffer.from('{"a":1}')],
] as const) {
  test(`a body in ${encoding} is decoded`, async () => {
    const origin = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(body);
    });
    assert.equal((await transportTo(origin).fetch(origin, { signal })).text, '{"a":1}');
  });
}

test("a response without a body is empty, whatever encoding it claims", async () => {
  const origin = await serve((request, response) => {
    const status = request.url === "/moved" ? 301 : 200;
    response.writeHead(status, {
      "content-encoding": "gzip",
      ...(status === 200 && { "content-length": "0" }),
    });
    response.end();
  });
  const { fetch } = transportTo(origin);
  for (const path of ["/moved", "/empty"]) assert.equal((await fetch(origin + path, { signal })).text, "");
});

for (const [what, headers, body] of [
  ["a gzip body that is cut off", { "content-encoding": "gzip" }, gzipSync("a".repeat(999)).subarray(0, 20)],
  ["a gzip body that is none", { "content-encoding": "gzip" }, Buffer.from("hello")],
  ["an unknown encoding", { "content-encoding": "zip" }, Buffer.from("hello")],
  ["encodings piled up", { "content-encoding": "gzip, gzip, gzip" }, gzipSync(gzipSync(gzipSync("a")))],
  ["a body that is too long", {}, Buffer.alloc(1001, "a")],
  ["a bomb", { "content-encoding": "gzip" }, gzipSync(Buffer.alloc(10_000_000))],
] as const) {
  test(`${what} is malformed`, async () => {
    const origin = await serve((_request, response) => {
      response.writeHead(200, headers).end(body);
    });
    await failsAs("malformed", transportTo(origin, { maxBytes: 1000 }).fetch(origin, { signal }));
  });
}

test("an endless body is read only up to the maximum length", async () => {
  let sent = 0;
  const origin = await serve((_request, response) => {
    const piece = Buffer.alloc(64 * 1024, "a");
    const write = () => {
      sent += piece.length;
      if (!response.destroyed && response.write(piece)) setImmediate(write);
    };
    response.on("drain", write).on("error", () => {});
    write();
  });
  await failsAs("malformed", transportTo(origin, { maxBytes: 2 ** 20 }).fetch(origin, { signal }), /longer/);
  assert.ok(sent < 16 * 2 ** 20, `${sent} bytes were sent`);
});

test("a response that trickles in is ended by the total time limit", async () => {
  const origin = await serve((_request, response) => {
    const drip = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(drip));
  });
  await failsAs(
    "unreachable",
    transportTo(origin, { responseMs: 50 }).fetch(origin, { signal }),
    /complete response/,
  );
});

test("a forge that sends nothing, or stops in the middle, is unreachable", async () => {
  const silent = await serve(() => {});
  const stalled = await serve((_request, response) => response.write("{"));
  const ask = (origin: string, silenceMs: number) =>
    transportTo(origin, { silenceMs }).fetch(origin, { signal });
  await failsAs("unreachable", ask(silent, 20), /HEADERS_TIMEOUT/);
  for (let silenceMs = 20, message = ""; !message.includes("BODY_TIMEOUT"); silenceMs *= 2) {
    const error = await ask(stalled, silenceMs).catch((reason: unknown) => reason);
    assert.ok(error instanceof UpstreamFailure);
    assert.equal(error.kind, "unreachable");
    // Headers that took longer than this on a busy machine prove nothing about the body.
    ({ message } = error);
    assert.match(message, /(?:HEADERS|BODY)_TIMEOUT/);
  }
});

test("a response that is cut off is malformed, no response is unreachable", async () => {
  const cut = await serveRaw((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"));
  await failsAs("malformed", transportTo(cut).fetch(cut, { signal }), /cut off/);
  const chunked = await serveRaw((socket) =>
    socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"),
  );
  await failsAs("malformed", transportTo(chunked).fetch(chunked, { signal }), /cut off/);
  const closed = await serveRaw((socket) => socket.destroy());
  await failsAs("unreachable", transportTo(closed).fetch(closed, { signal }), /no response/);
  const foreign = await serveRaw((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
  await failsAs("malformed", transportTo(foreign).fetch(foreign, { signal }));
  const headers = await serveRaw((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(99_999)}\r\n\r\n`),
  );
  await failsAs("malformed", transportTo(headers).fetch(headers, { signal }));
});

test("a closed port is unreachable", async () => {
  const origin = await serve(() => {});
  await ends.pop()?.();
  await failsAs("unreachable", transportTo(origin).fetch(origin, { signal }), /ECONNREFUSED/);
});

test("a request ends when it is aborted, before and while it runs, and when the transport closes", async () => {
  const origin = await serve(() => {});
  const transport = transportTo(origin);
  await failsAs("unreachable", transport.fetch(origin, { signal: AbortSignal.abort() }), /aborted/);
  const giveUp = new AbortController();
  const sent = transport.fetch(origin, { signal: giveUp.signal });
  setImmediate(() => giveUp.abort());
  await failsAs("unreachable", sent, /aborted/);
  const left = transport.fetch(origin, { signal });
  setImmediate(() => transport.close());
  await failsAs("unreachable", left);
});

test("a certificate of an own authority is named as the reason, with the setting that accepts it", async () => {
  const server = createTlsServer(SELF_SIGNED, (_, response) => response.end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => server.close());
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await failsAs(
    "unreachable",
    transportTo(origin).fetch(`${origin}/api`, { signal }),
    /^127\.0\.0\.1:\d+: no response \(DEPTH_ZERO_SELF_SIGNED_CERT\): its certificate is not trusted; .* NODE_EXTRA_CA_CERTS, /,
  );
});
