import assert from "node:assert/strict";
import { before, test } from "node:test";
import { API_ROUTES } from "../../src/api/routes.js";
import { decodedText, errorOf } from "../support/answers.js";
import { SoftwareAuthenticator } from "../support/authenticator.js";
import { PLANTED, plantDump } from "../support/dumps.js";
import { onSqlite } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { openMailbox } from "../support/mail.js";
import { createKey, type Member, ORIGIN, requestMail, SITE_SETTINGS, signIn } from "../support/members.js";
import { checkSchemas, document, documentText } from "../support/openapi.js";
import { addPasskey, startAdding, startSignIn } from "../support/passkeys.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const;

/** A body that each route which takes one accepts. */
const BODIES: Readonly<Record<string, unknown>> = {
  "POST /api/track": { repository: "a/new" },
  "POST /api/watchlists": {},
  "PATCH /api/watchlists/{token}": { name: "New" },
  "POST /api/watchlists/{token}/items": { repositoryId: "2" },
  "POST /api/watchlists/{token}/removals": { ids: ["1"] },
  "POST /api/auth/magic-link": { email: "new@example.org" },
  "POST /api/auth/sign-in/{site}": {},
  "POST /api/me/watchlist": { repositoryId: "2" },
  "PATCH /api/me/watchlist": { name: "Mine" },
  "POST /api/me/keys": { name: "New" },
};

/** Headers that tell the requests apart, and so differ between equal answers. */
const OWN = ["x-request-id"];

/** What the error of a path below /api says to request instead. */
const HINTS: Readonly<Record<string, readonly string[]>> = {
  "/api/": ["/api lists the main addresses."],
  "/api/nothing": ["/api lists the main addresses."],
  "/api/repos/": ["The nearest address is /api/repos."],
  "/api/repositories": ["The nearest address is /api/repos."],
  "/api/trendin": ["The nearest address is /api/trending."],
};

onSqlite("Conventions of every route", (engine) => {
  let world: World;
  let streamKey: string;
  const mailbox = openMailbox();
  const dumps = temporaryFolder();
  const newList = async (): Promise<{ token: string; shareToken: string }> =>
    (await world.send("POST", "/api/watchlists", { ids: ["1"] })).body.data;
  /** A token that the route accepts. */
  const tokenFor = async (pattern: string): Promise<string> => {
    const { token, shareToken } = await newList();
    return pattern.endsWith("/feed.atom") ? shareToken : token;
  };
  const newRequest = async (): Promise<string> =>
    (await world.send("POST", "/api/track", { repository: "a/requested" })).body.data.id;
  /** A path of the contract with values that exist. */
  const filled = async (
    pattern: string,
    { keyId = "1", passkeyId = "1", sessionId = "1" } = {},
  ): Promise<string> => {
    const values: Record<string, string> = {
      provider: "github",
      owner: "a",
      name: "big",
      id: "1",
      repositoryId: "1",
      fullName: "a/big",
      token: pattern.includes("{token}") ? await tokenFor(pattern) : "",
      site: "github",
      ranking: "trending",
      file: PLANTED,
      requestId: pattern.includes("{requestId}") ? await newRequest() : "",
      keyId,
      passkeyId,
      sessionId,
    };
    const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
    if (path.startsWith("/api/embed/") || path === "/api/metrics") return `${path}?repo=github:a/big`;
    return path.endsWith("/by-full-name") ? `${path}?fullName=a/big` : path;
  };
  /** The id of another session of a member. */
  const otherSession = async (member: Member, email: string): Promise<string> => {
    await signIn(world, mailbox, email);
    const { data } = (await world.get("/api/me/sessions", member.headers)).body;
    return data.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent).id;
  };
  /** What a request needs that only works once: its body, and its headers where they differ. */
  const prepared = async (
    where: string,
    member: Member | undefined,
  ): Promise<{ body: unknown; headers?: Record<string, string> }> => {
    if (where === "POST /api/auth/verify") {
      const { requestToken, token } = await requestMail(world, mailbox, "ann@example.org");
      return { body: { requestToken, token } };
    }
    if (where === "POST /api/auth/passkey/verify") {
      const owner = await signIn(world, mailbox, "bob@example.org");
      const { authenticator } = await addPasskey(world, owner);
      const { options, headers } = await startSignIn(world);
      return { body: { credential: authenticator.get(options) }, headers };
    }
    if (where === "POST /api/me/passkeys" && member !== undefined) {
      const { options, headers } = await startAdding(world, member);
      return {
        body: { name: "New", credential: new SoftwareAuthenticator(ORIGIN).create(options) },
        headers,
      };
    }
    return { body: BODIES[where] };
  };
  const headersOf = (response: Response): Record<string, string> =>
    Object.fromEntries([...response.headers].filter(([name]) => !OWN.includes(name)));
  const allowOf = (pattern: string): string => {
    const methods = Object.keys(document.paths[pattern] ?? {}).map((method) => method.toUpperCase());
    return [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].sort().join(", ");
  };

  before(async () => {
    plantDump(dumps, 5_000);
    world = await createWorld(engine, {
      SIDEREAL_DUMPS_DIR: dumps,
      ...mailbox.settings,
      ...SITE_SETTINGS,
      SIDEREAL_PROVIDERS: "github",
      SIDEREAL_TRACK: "everyone",
    });
    streamKey = (await createKey(world, await signIn(world, mailbox, "streams@example.org"))).key;
    const rows = Array.from({ length: 30 }, (_, i) => observation(`many/r${i}`, daily(i, i + 1)));
    await world.record(
      observation("a/big", daily(500, 510), { facts: { language: "Go", topics: ["web"] } }),
      observation("b/small", daily(1, 2)),
      ...rows,
    );
  });

  test("every route answers each method it has, and the others with 405 and what it has", async () => {
    for (const [i, pattern] of Object.keys(document.paths).entries()) {
      const allow = allowOf(pattern);
      const member = pattern.startsWith("/api/me")
        ? await signIn(world, mailbox, `${i}@example.org`)
        : undefined;
      const keyed = API_ROUTES.some(({ route }) => route.path === pattern && route.access === "key")
        ? { "X-API-Key": streamKey }
        : undefined;
      const keyId = member === undefined ? "" : (await createKey(world, member)).id;
      const sessionId =
        member !== undefined && pattern.includes("{sessionId}")
          ? await otherSession(member, `${i}@example.org`)
          : "";
      const passkeyId =
        member !== undefined && pattern.includes("{passkeyId}") ? (await addPasskey(world, member)).id : "";
      for (const method of METHODS) {
        const where = `${method} ${pattern}`;
        const path = await filled(pattern, { keyId, passkeyId, sessionId });
        const { body, headers = member?.headers ?? keyed } = await prepared(where, member);
        const answer = await world.send(method, path, body, { Accept: "application/json", ...headers });
        if (method === "OPTIONS") {
          assert.equal(answer.status, 204, where);
          assert.equal(answer.headers.get("allow"), allow, where);
        } else if (allow.split(", ").includes(method)) {
          assert.ok(answer.status >= 200 && answer.status < 400, `${where} answered ${answer.status}`);
          assert.equal(answer.headers.get("allow"), null);
        } else {
          const message = `${method} is not allowed here. Allowed: ${allow}.`;
          const expected = { status: 405, code: "METHOD_NOT_ALLOWED", message };
          assert.equal(answer.status, 405, where);
          if (method !== "HEAD") assert.deepEqual(errorOf(answer), expected, where);
          assert.equal(answer.headers.get("allow"), allow, where);
          assert.equal(answer.headers.get("cache-control"), "no-store", where);
        }
      }
    }
  });

  test("HEAD answers with the headers of GET and no body", async () => {
    const patterns = Object.keys(document.paths).filter((pattern) => document.paths[pattern]?.get);
    const paths = await Promise.all([
      ...patterns.map((pattern) => filled(pattern)),
      "/",
      "/docs",
      "/api/openapi.json",
    ]);
    for (const path of [...paths, "/api/repos?sort=none", "/api/repos/github/no/such", "/nowhere"]) {
      for (const headers of [{}, { "Accept-Encoding": "gzip" }, { "If-None-Match": "*" }]) {
        const get = await world.request(path, { headers });
        const head = await world.request(path, { method: "HEAD", headers });
        assert.equal(head.status, get.status, path);
        const [wanted, given] = [headersOf(get), headersOf(head)];
        // Both are counted, so what is left differs, and /api/limits has it in its body.
        if (path === "/api/limits") for (const each of [wanted, given]) delete each.etag;
        for (const one of [wanted, given])
          for (const name of ["ratelimit", "x-ratelimit-remaining"]) delete one[name];
        assert.deepEqual(given, wanted, path);
        assert.equal((await head.arrayBuffer()).byteLength, 0, path);
        const { byteLength } = await get.arrayBuffer();
        if (get.status === 200) assert.equal(get.headers.get("content-length"), String(byteLength), path);
      }
    }
  });

  test("OPTIONS lets every origin ask, without credentials", async () => {
    const { status, headers, body } = await world.send("OPTIONS", "/api/watchlists/x", undefined, {
      Origin: "https://elsewhere.example",
      "Access-Control-Request-Method": "PATCH",
    });
    assert.deepEqual([status, body], [204, ""]);
    for (const [name, value] of Object.entries({
      allow: "DELETE, GET, HEAD, OPTIONS, PATCH",
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "DELETE, GET, HEAD, OPTIONS, PATCH",
      "access-control-allow-headers":
        "Authorization, X-API-Key, Content-Type, Idempotency-Key, If-None-Match, If-Match, Range, If-Range, MCP-Protocol-Version, Mcp-Method, Mcp-Name",
      "access-control-max-age": "7200",
      "access-control-allow-credentials": null,
    })) {
      assert.equal(headers.get(name), value, name);
    }
  });

  test("the index leads to the documentation and to resources that exist", async () => {
    const { status, body } = await world.get("/api");
    assert.equal(status, 200);
    const { name, resources, documentation, openapi, ...other } = body.data;
    assert.deepEqual([name, other], ["Sidereal", {}]);
    for (const address of [documentation, openapi, ...Object.values<string>(resources)]) {
      const { pathname } = new URL(address);
      assert.equal((await world.request(pathname)).status, 200, address);
    }
  });

  test("an unknown address answers 404, whatever the method", async () => {
    for (const path of [...Object.keys(HINTS), "/API/repos", "/x"]) {
      for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
        const answer = await world.send(method, path);
        assert.deepEqual(
          errorOf(answer),
          {
            status: 404,
            code: "NOT_FOUND",
            message: ["This address does not exist.", ...(HINTS[path] ?? [])].join(" "),
          },
          `${method} ${path}`,
        );
      }
    }
  });

  test("programs and models find the contract at the usual addresses", async () => {
    const moved = await world.request("/openapi.json");
    assert.deepEqual([moved.status, moved.headers.get("location")], [301, "/api/openapi.json"]);
    const response = await world.request("/llms.txt");
    assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
    const addresses = [...(await response.text()).matchAll(/\]\((https:[^)]+)\)/g)].map(
      ([, one]) => one ?? "",
    );
    assert.ok(addresses.length >= 5);
    for (const address of addresses.filter((one) => !one.endsWith("/mcp")))
      assert.equal(
        (await world.request(address.replace("https://sidereal.example", ""))).status,
        200,
        address,
      );
  });

  test("a tag spares the body: weak comparison, lists, and *", async () => {
    for (const path of [
      "/api/repos",
      "/api/repos/github/a/big",
      "/api/stats/summary",
      "/docs",
      "/api/openapi.json",
    ]) {
      const first = await world.request(path);
      const etag = first.headers.get("etag") ?? "";
      assert.match(etag, /^W\/"[\w-]{22}"$/, path);
      for (const header of [etag, etag.replace("W/", ""), `"other", ${etag}`, `${etag},"x"`, "*", " * "]) {
        const answer = await world.request(path, { headers: { "If-None-Match": header } });
        assert.equal(answer.status, 304, header);
        assert.equal((await answer.arrayBuffer()).byteLength, 0);
        const [expected, given] = [headersOf(first), headersOf(answer)];
        for (const name of ["content-type", "content-length"]) delete expected[name];
        // It counts, as the answer was not cached, and less is left.
        for (const name of ["ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset"])
          for (const headers of [expected, given]) delete headers[name];
        assert.deepEqual(given, expected, path);
      }
      for (const header of ['"other"', 'W/"other"', "", etag.slice(0, -2), `x${etag}`]) {
        assert.equal(
          (await world.request(path, { headers: { "If-None-Match": header } })).status,
          200,
          header,
        );
      }
    }
  });

  test("a tag changes when the body does, and only then", async () => {
    const own = await createWorld(engine);
    const tag = async (path: string) => (await own.get(path)).headers.get("etag");
    await own.record(observation("a/one", daily(1, 2)));
    const paths = [
      "/api/repos?sort=stars",
      "/api/repos/github/a/one",
      "/api/repos/1/metrics",
      "/api/repos?sort=forks&q=none",
    ];
    const before = await Promise.all(paths.map(tag));
    assert.deepEqual(await Promise.all(paths.map(tag)), before);
    await own.record(observation("b/two", []));
    const [list, ...others] = await Promise.all(paths.map(tag));
    assert.notEqual(list, before[0]);
    assert.deepEqual(others, before.slice(1));
  });

  test("an error has no tag, so a caller with a tag still gets it", async () => {
    for (const path of ["/api/repos?sort=none", "/api/repos/github/no/such"]) {
      const answer = await world.get(path, { "If-None-Match": "*" });
      assert.ok(answer.status >= 400);
      assert.equal(answer.headers.get("etag"), null);
    }
  });

  test("br, zstd and gzip carry the same body, under the same tag", async () => {
    for (const path of ["/api/repos?limit=100", "/api/repos?sort=stars", "/docs", "/api/openapi.json"]) {
      const plain = await world.request(path);
      const text = await plain.clone().text();
      assert.equal(plain.headers.get("content-encoding"), null);
      for (const encoding of ["br", "zstd", "gzip"]) {
        const answer = await world.request(path, { headers: { "Accept-Encoding": encoding } });
        assert.equal(answer.headers.get("content-encoding"), encoding);
        assert.equal(answer.headers.get("etag"), plain.headers.get("etag"));
        assert.match(answer.headers.get("vary") ?? "", /Accept-Encoding/);
        const { byteLength } = await answer.clone().arrayBuffer();
        assert.equal(answer.headers.get("content-length"), String(byteLength));
        assert.ok(byteLength < text.length / 2, `${path} ${encoding}`);
        assert.equal(await decodedText(answer), text, `${path} ${encoding}`);
      }
    }
  });

  test("the encoding is the one the caller likes best, and ours if it has no preference", async () => {
    for (const [accept, expected] of [
      ["gzip, deflate, br, zstd", "br"],
      ["gzip, zstd", "zstd"],
      ["gzip;q=1, br;q=0.5", "gzip"],
      ["br;q=0.1, zstd;q=0.2, gzip;q=0.3", "gzip"],
      ["br;q=0, gzip", "gzip"],
      ["br;q=0, *", "zstd"],
      ["*", "br"],
      ["*;q=0.1, gzip;q=0.5", "gzip"],
      ["GZIP", "gzip"],
      ["gzip ; q=0.001", "gzip"],
      ["gzip;q=0", null],
      ["gzip;q=0.0, *;q=0", null],
      ["identity", null],
      ["deflate, compress", null],
      ["br;q=nonsense", null],
      ["", null],
    ] as const) {
      const answer = await world.request("/api/repos", { headers: { "Accept-Encoding": accept } });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-encoding"), expected, accept);
    }
  });

  test("a small body is sent as it is", async () => {
    const answer = await world.request("/healthz", { headers: { "Accept-Encoding": "br, gzip" } });
    assert.equal(answer.headers.get("content-encoding"), null);
    assert.equal(await answer.text(), '{"data":{"status":"ok"}}');
  });

  test("the documentation is there, and /api/openapi.json is the contract that answers are held to", async () => {
    const { status, headers, body } = await world.get("/api/openapi.json");
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(body.openapi, "3.1.0");
    assert.deepEqual(body, JSON.parse(documentText()));
    checkSchemas();
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const ids = operations.map((operation) => (operation as { operationId?: string }).operationId);
    assert.equal(new Set(ids).size, operations.length, "every operation has a name of its own");
    assert.equal((await world.get("/docs")).status, 200);
  });
});
