import assert from "node:assert/strict";
import { test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { END, get, onTheWire } from "../support/raw.js";

onSqlite("Requests as they come over the wire", (engine) => {
  const { send, expectEach } = onTheWire(engine);

  test("a request names exactly one host, which changes nothing in the answer", async () => {
    const line = "GET /api/repos?sort=stars&limit=1 HTTP/1.1\r\n";
    await expectEach([
      [`${line}Connection: close\r\n\r\n`, 400],
      [`${line}Host: a.example\r\nHost: b.example\r\nConnection: close\r\n\r\n`, 400],
      [`${line}Host: a.example\r\nhost: a.example\r\nConnection: close\r\n\r\n`, 400],
      [`${line.replace("1.1", "1.0")}\r\n`, 200],
    ]);
    const [plain] = await send(`${line}${END}`);
    for (const headers of [
      "Host: evil.example\r\n",
      "Host: evil.example:99999\r\n",
      "Host: evil.example/api?x=\r\n",
      "Host: \r\n",
      "Host: a.example\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: ftp\r\nForwarded: host=evil.example\r\n",
      "Host: a.example\r\nX-Original-URL: /evil\r\nX-Rewrite-URL: /evil\r\nX-HTTP-Method-Override: DELETE\r\n",
    ]) {
      const [answer] = await send(`${line}${headers}Connection: close\r\n\r\n`);
      assert.equal(answer?.status, 200, headers);
      assert.equal(answer.body, plain?.body, headers);
      assert.equal(answer.headers.link, plain?.headers.link, headers);
      assert.doesNotMatch(JSON.stringify(answer), /evil/);
    }
  });

  test("the target is a path: another host in it is dropped, other forms are refused", async () => {
    const [plain] = await send(get("/api/repos?sort=stars"));
    for (const target of [
      "http://evil.example/api/repos?sort=stars",
      "HTTPS://evil.example:1/api/repos?sort=stars",
    ]) {
      const [answer] = await send(get(target));
      assert.equal(answer?.status, 200, target);
      assert.equal(answer.body, plain?.body);
      assert.doesNotMatch(JSON.stringify(answer), /evil/);
    }
    await expectEach([
      [get("http://evil.example"), 200],
      [get("http://evil.example/nowhere"), 404],
      [get("//evil.example/api/repos"), 400],
      [get("//api/repos"), 400],
      [get("/\\evil.example/api/repos"), 400],
      [get("http://evil.example//api/repos"), 400],
      [get("http:/api/repos"), 400],
      [get("ftp://evil.example/api/repos"), 400],
      [get("evil.example:80"), 400],
      [get("api/repos"), 400],
      [get("?sort=stars"), 400],
      [get("/api/repos#x"), 400],
      [get("*"), 400],
      [get("*", "OPTIONS"), 204],
    ]);
  });

  test("raw UTF-8 in an address is refused with the advice to percent-encode it", async () => {
    for (const target of ["/api/repos?q=日本", "/api/repos/github/日本/x"]) {
      const [answer] = await send(get(Buffer.from(target).toString("latin1")));
      assert.equal(answer?.status, 400, target);
      assert.match(answer?.body.toString() ?? "", /must be percent-encoded/, target);
    }
    await expectEach([[get("/api/repos?q=%E6%97%A5%E6%9C%AC"), 200]]);
  });

  test("an escape that is malformed or no UTF-8 is refused, in the path and in the query", async () => {
    const wrong = [
      "%",
      "%2",
      "%zz",
      "%u0041",
      "%-1",
      "%ff",
      "%c3%28",
      "%c0%ae",
      "%ed%a0%80",
      "%f4%90%80%80",
      "a%",
    ];
    await expectEach(
      wrong.flatMap((text) => [
        [get(`/api/repos/github/${text}/x`), 400] as const,
        [get(`/${text}`), 400] as const,
        [get(`/api/repos?q=${text}`), 400] as const,
        [get(`/api/repos?${text}=1`), 400] as const,
      ]),
    );
  });

  test("NUL, backslashes and dot segments are refused, however they are written", async () => {
    const hidden = [
      "%00",
      "a%00b",
      "..",
      ".",
      "%2e%2e",
      "%2E.",
      ".%2e",
      "%2e",
      "..%2f..",
      "a%2f..%2fb",
      "a%2F.",
      "%5c",
      "a%5Cb",
      "\\",
      "..\\",
      "..%5c",
    ];
    await expectEach([
      ...hidden.flatMap((segment) => [
        [get(`/api/repos/github/${segment}/x`), 400] as const,
        [get(`/${segment}/api/repos`), 400] as const,
        [get(`/api/repos/gitlab/by-full-name/${segment}/x`), 400] as const,
        [get(`/api/repos/${segment}`), 400] as const,
      ]),
      [get("/api/repos?q=%00"), 400],
      [get("/api/repos?language=a%00"), 400],
      [get("/api/repos?%00=a"), 400],
      [get("/api/repos/github/by-full-name?fullName=a/../b"), 400],
      // In a query they are text.
      [get("/api/repos?q=..%5c.."), 200],
    ]);
  });

  test("a path is decoded once", async () => {
    await expectEach([
      [get("/api/repos/gitlab/group%2Fsub/three"), 200],
      [get("/api/repos/gitlab/by-full-name/group%2Fsub%2Fthree"), 200],
      [get("/api/repos/gitlab/group%252Fsub/three"), 400],
      [get("/api/repos/gitlab/by-full-name/group%252Fsub%252Fthree"), 400],
      [get("/api/repos/github/%252e%252e/one"), 400],
      [get("/api/repos/github/a/one%2500"), 400],
      [get("/api/%72epos"), 200],
      [get("/api/%2572epos"), 404],
      [get("/api%2Frepos"), 404],
      [get("/api/repos?q=%2522"), 200],
    ]);
  });

  test("bytes that no target may hold are refused", async () => {
    await expectEach([
      [get("/api/re\0pos"), 400],
      [get("/api/repos x"), 400],
      [get("/api/\trepos"), 400],
      [get("/api/\x01repos"), 400],
      [get("/api/repos\x7f"), 400],
      [get("/api/repos\nX: y"), 400],
    ]);
    for (const target of ["/api/repos/github/\xc3\xa9/x", "/api/repos/github/\xff/x"]) {
      const [answer] = await send(get(target));
      assert.ok(answer !== undefined && [400, 404].includes(answer.status), `${target} ${answer?.status}`);
    }
  });

  test("a target of 8,000 characters is looked at, a longer one is not; nor are 16 kB of headers", async () => {
    const path = (length: number) => get(`/api/repos?x=${"y".repeat(length - "/api/repos?x=".length)}`);
    await expectEach([
      [path(8_000), 200],
      [path(8_001), 414],
      [get(`/${"a".repeat(8_000)}`), 414],
      [get(`/${"a".repeat(20_000)}`), 431],
      [`GET /healthz HTTP/1.1\r\nX-Long: ${"x".repeat(20_000)}\r\n${END}`, 431],
      [`GET /healthz HTTP/1.1\r\n${"X: y\r\n".repeat(4_000)}${END}`, 431],
    ]);
  });

  test("a path has at most 1,000 characters and 50 segments, escaped ones too, a query at most 200 parameters", async () => {
    await expectEach([
      [get(`/${"a".repeat(999)}`), 404],
      [get(`/${"a".repeat(1_000)}`), 414],
      [get(`/a${"/a".repeat(49)}`), 404],
      [get(`/a${"/a".repeat(50)}`), 414],
      [get(`/a${"%2Fa".repeat(49)}`), 404],
      [get(`/api/repos/gitlab/a${"%2fa".repeat(50)}/x`), 414],
      [get(`/api/repos?a${"&a=1".repeat(199)}`), 200],
      [get(`/api/repos?a${"&".repeat(200)}`), 414],
      [get(`/healthz?${"&".repeat(200)}`, "OPTIONS"), 414],
    ]);
    const messageOf = async (target: string) =>
      JSON.parse((await send(get(target)))[0]?.body ?? "").error.message;
    assert.equal(
      await messageOf(`/${"a".repeat(1_000)}`),
      "The address must have a path of at most 1000 characters.",
    );
    assert.equal(
      await messageOf(`/${"/".repeat(50)}`),
      "The address must be a path that begins with a single slash.",
    );
    assert.equal(
      await messageOf(`/a${"/".repeat(50)}`),
      "The address must have a path of at most 50 segments.",
    );
    assert.equal(await messageOf(`/?${"&".repeat(200)}`), "The address must have at most 200 parameters.");
  });

  test("a header that is split has at most 200 parts, all its lines together, and a request at most 100 lines", async () => {
    const request = (...headers: string[]) => `GET /healthz HTTP/1.1\r\n${headers.join("\r\n")}\r\n${END}`;
    const split = {
      Accept: ",;",
      "Accept-Encoding": ",;",
      Authorization: ",",
      Cookie: ";",
      "If-Match": ",",
      "If-None-Match": ",",
      "X-API-Key": ",",
      "X-Forwarded-For": ",",
    };
    for (const [name, separators] of Object.entries(split))
      for (const separator of separators)
        await expectEach([
          [request(`${name}: a${separator.repeat(199)}`), 200],
          [request(`${name}: a${separator.repeat(200)}`), 431],
          [request(`${name}: a${separator.repeat(100)}`, `${name}: a${separator.repeat(100)}`), 431],
        ]);
    const cached = `GET /api/repos HTTP/1.1\r\n`;
    await expectEach([
      [cached + END, 200],
      [`${cached}Cookie: a${";".repeat(200)}\r\n${END}`, 431],
      [`${cached}If-None-Match: a${",".repeat(200)}\r\n${END}`, 431],
    ]);
    const [answer] = await send(request(`accept: text/csv${",".repeat(200)}`));
    const { error } = JSON.parse(answer?.body ?? "");
    assert.equal(error.message, "The header accept must have at most 200 parts.");
    assert.deepEqual(error.details, [{ parameter: "accept", message: "must have at most 200 parts" }]);
    // Two more are at the end.
    await expectEach([
      [request(...Array(98).fill("X: y")), 200],
      [request(...Array(99).fill("X: y")), 431],
    ]);
  });

  test("a header that is looked into has a maximum length, all its lines together", async () => {
    const request = (...headers: string[]) => `GET /api/repos HTTP/1.1\r\n${headers.join("\r\n")}\r\n${END}`;
    const lengths = {
      Cookie: 8_192,
      Authorization: 4_096,
      "X-API-Key": 4_096,
      "If-None-Match": 4_096,
      Accept: 4_096,
      "Accept-Encoding": 4_096,
      "X-Forwarded-For": 4_096,
    };
    for (const [name, most] of Object.entries(lengths)) {
      const refused = name === "X-API-Key" ? 401 : 200;
      const lead = name === "Authorization" ? "Basic " : "";
      const value = (length: number) => lead + "x".repeat(length - lead.length);
      await expectEach([
        [request(`${name}: ${value(most)}`), refused],
        [request(`${name}: ${value(most + 1)}`), 431],
        [request(`${name.toUpperCase()}: ${value(most / 2)}`, `${name}: ${value(most / 2 + 1)}`), 431],
      ]);
    }
    const [answer] = await send(request(`Authorization: Bearer x${" ".repeat(5_000)}y`));
    const { error } = JSON.parse(answer?.body ?? "");
    assert.equal(error.message, "The header Authorization must be at most 4096 characters.");
    assert.equal(error.code, "HEADER_TOO_LARGE");
  });

  test("methods that we do not have are refused", async () => {
    await expectEach([
      [get("/api/repos", "TRACE"), 405],
      [get("/api/repos", "PROPFIND"), 405],
      [get("/api/repos", "QUERY"), 405],
      [get("/api/repos", "PUT"), 405],
      [get("/api/repos", "FOO"), 400],
      [get("/api/repos", "get"), 400],
      [get("/api/repos", "G\0T"), 400],
      [get("/api/repos", ""), 400],
    ]);
    const [picture] = await send(get("/api/embed/badge.svg?repo=github:a/b", "TRACE"));
    assert.equal(picture?.status, 405, "nobody shows it as an image");
    const [trace] = await send(get("/api/repos", "TRACE"));
    assert.equal(trace?.headers.allow, "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE");
    // A tunnel is not even answered.
    assert.deepEqual(await send(get("evil.example:443", "CONNECT")), []);
    assert.deepEqual(await send(get("/api/repos", "CONNECT")), []);
    assert.equal((await send(get("/healthz")))[0]?.status, 200);
  });

  test("no protocol is changed on request, and no other version is spoken", async () => {
    await expectEach([
      [`GET /healthz HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n${END}`, 200],
      [`GET /healthz HTTP/1.1\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n${END}`, 200],
      [`GET /healthz HTTP/1.1\r\nExpect: nonsense\r\n${END}`, 417],
      [`GET /healthz HTTP/2.0\r\n${END}`, 400],
      [`GET /healthz HTTP/1.2\r\n${END}`, 400],
      ["GET /healthz\r\n\r\n", 400],
      ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
      ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    ]);
  });

  test("an expectation that we do not know is refused with the headers of every response", async () => {
    const [answer, ...others] = await send(`GET /healthz HTTP/1.1\r\nExpect: nonsense\r\n${END}`);
    assert.deepEqual([answer?.status, answer?.body, others], [417, "", []]);
    for (const name of ["x-content-type-options", "strict-transport-security", "content-security-policy"])
      assert.ok(answer?.headers[name], name);
    assert.equal(answer?.headers.connection, "close");
  });

  test("headers that could be read in two ways are refused", async () => {
    for (const header of [
      "Host : a",
      " folded: x",
      "X: a\r\n b",
      "no colon",
      "X: a\0b",
      ": empty",
      "X\xff: a",
      "X: a\nY: b",
    ]) {
      const [answer, ...others] = await send(`GET /healthz HTTP/1.1\r\n${header}\r\n${END}`);
      assert.deepEqual([answer?.status, others], [400, []], JSON.stringify(header));
    }
  });

  test("requests on one connection are answered each and in order", async () => {
    const alive = (target: string, method = "GET") => `${method} ${target} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const answers = await send(
      alive("/healthz") + alive("/nowhere") + alive("/api/repos", "DELETE") + get("/api/repos?limit=1"),
    );
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [200, 404, 405, 200],
    );
    // After a body that was not wanted the connection still speaks the same language.
    const body = "x".repeat(500);
    const unwanted = `POST /api/repos HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    assert.deepEqual(
      (await send(unwanted + get("/healthz"))).map((answer) => answer.status),
      [405, 200],
    );
  });

  test("a response that is cached keeps its connection", async () => {
    await send(get("/robots.txt"));
    const [cached] = await send(
      `GET /robots.txt HTTP/1.1\r\nHost: sidereal.example\r\n\r\n${get("/healthz")}`,
    );
    assert.equal(cached?.headers.connection, "keep-alive");
  });

  test("HEAD and 304 carry no body", async () => {
    const [full] = await send(get("/api/repos"));
    const [head] = await send(get("/api/repos", "HEAD"));
    assert.deepEqual([head?.status, head?.body], [200, ""]);
    assert.equal(head?.headers["content-length"], full?.headers["content-length"]);
    const [spared] = await send(`GET /api/repos HTTP/1.1\r\nIf-None-Match: ${full?.headers.etag}\r\n${END}`);
    assert.deepEqual([spared?.status, spared?.body], [304, ""]);
    assert.equal(spared?.headers["content-length"], undefined);
    assert.notEqual(spared?.headers.date, undefined);
  });
});
