import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { END, get, onTheWire, startSmallService } from "../support/raw.js";

const post = (
  body: string,
  headers = "Content-Type: application/json\r\n",
  target = "/api/watchlists",
): string =>
  `POST ${target} HTTP/1.1\r\n${headers}Content-Length: ${Buffer.byteLength(body, "latin1")}\r\n${END}${body}`;
const chunked = (...chunks: string[]): string =>
  `POST /api/watchlists HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${END}${chunks.join("")}`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

onSqlite("Bodies as they come over the wire", (engine) => {
  const { expectEach } = onTheWire(engine);

  test("a body whose length could be read in two ways is refused, and nothing in it is taken for a request", async () => {
    const hidden = get("/api/stats/summary");
    const body = (headers: string, text: string) =>
      `POST /api/watchlists HTTP/1.1\r\nContent-Type: application/json\r\n${headers}${END}${text}`;
    await expectEach([
      [body("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", `0\r\n\r\n${hidden}`), 400],
      [body("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", `0\r\n\r\n${hidden}`), 400],
      [body("Content-Length: 2\r\nContent-Length: 3\r\n", `{}${hidden}`), 400],
      [body("Content-Length: 2, 2\r\n", `{}${hidden}`), 400],
      [body("Content-Length: +2\r\n", "{}"), 400],
      [body("Content-Length: -2\r\n", "{}"), 400],
      [body("Content-Length: 0x2\r\n", "{}"), 400],
      [body("Content-Length: 99999999999999999999999\r\n", "{}"), 400],
      [body("Transfer-Encoding: xchunked\r\n", `0\r\n\r\n${hidden}`), 400],
      [body("Transfer-Encoding: identity\r\n", "{}"), 400],
      [body("Transfer-Encoding: chunked, identity\r\n", `0\r\n\r\n${hidden}`), 400],
      [body("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"), 400],
      [chunked("zz\r\n{}\r\n0\r\n\r\n"), 400],
      [chunked("2\n{}\n0\n\n"), 400],
      [chunked("2\r\n{}xx0\r\n\r\n"), 400],
      [chunked("-2\r\n{}\r\n0\r\n\r\n"), 400],
      // What a GET carries is not looked at, and is not the next request either.
      [`GET /healthz HTTP/1.1\r\nContent-Length: ${hidden.length}\r\n${END}${hidden}`, 200],
      [chunked(chunk('{"name":'), chunk('"x"}'), "0\r\n\r\n"), 201],
    ]);
  });

  test("a body of more than 16 kB is refused, with or without Content-Length", async () => {
    const padded = (bytes: number) => `{}${" ".repeat(bytes - 2)}`;
    const limit = 16 * 1024;
    await expectEach([
      [post(padded(limit)), 201],
      [post(padded(limit + 1)), 413],
      [post(padded(1_000_000)), 413],
      [chunked(chunk(padded(limit)), "0\r\n\r\n"), 201],
      [chunked(chunk(padded(limit)), chunk(" "), "0\r\n\r\n"), 413],
      [chunked(...Array.from({ length: 200 }, () => chunk(" ".repeat(1_000))), "0\r\n\r\n"), 413],
      // The connection ends with the answer, though nobody asked for that.
      [post(padded(limit + 1)).replace("Connection: close\r\n", ""), 413],
      // Announced, and never sent.
      [
        `POST /api/watchlists HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n${END}`,
        413,
      ],
      [post(padded(limit + 1), "Content-Type: application/json\r\nExpect: 100-continue\r\n"), 413],
    ]);
  });

  test("a body of two kinds, or of one that only begins like a form, is refused", async () => {
    const json = "Content-Type: application/json\r\n";
    await expectEach([
      [post("a=b", "Content-Type: application/x-www-form-urlencodedX\r\n", "/sample/dismiss"), 415],
      [post("{}", `${json}Content-Type: text/plain\r\n`), 415],
      [post('{"name":"a\0b"}', json), 400],
      [post('{"name":"\\ud800"}', json), 400],
      [post('{"repositoryId":"1"}', json, "/api/watchlists/none/items"), 404],
    ]);
  });

  test("a body that nobody reads does not keep the connection open", async () => {
    const head = "Host: a.example\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
    // It never ends: only a closed connection ends these.
    await expectEach([
      [`POST /api/watchlists HTTP/1.1\r\n${head}5\r\nhello\r\n`, 415],
      [`POST /api/nothing HTTP/1.1\r\n${head}5\r\nhello\r\n`, 404],
      [`PATCH /api/repos HTTP/1.1\r\n${head}5\r\nhello\r\n`, 405],
      [`DELETE /api/me HTTP/1.1\r\n${head}5\r\nhello\r\n`, 401],
    ]);
  });

  test("a sender that is still sending a body that is refused gets the response, not a reset", async () => {
    const service = await startSmallService(await engine.open());
    const body = "x".repeat(8_000_000);
    const head = `POST /api/watchlists HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const socket = connect(service.port, "127.0.0.1");
    socket.setEncoding("latin1");
    // Reads only once all is sent, as many clients do.
    socket.pause();
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once("error", reject);
        socket.write(head + body, () => resolve());
      });
      // Behind the body there is another request, which is not obeyed.
      socket.end("POST /api/watchlists HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
      let text = "";
      for await (const chunk of socket) text += chunk;
      assert.match(text, /^HTTP\/1\.1 413 /);
      assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1);
    } finally {
      socket.destroy();
      await service.stop();
    }
  });
});
