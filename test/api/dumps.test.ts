import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { get as httpGet, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { byteRange } from "../../src/api/dumps.js";
import type { Service } from "../../src/app/service.js";
import { readHidingTarget } from "../../src/repositories/repositories.js";
import { untrack } from "../../src/tracking/tracking.js";
import { PLANTED, plantDump, plantedBytes } from "../support/dumps.js";
import { onSqlite } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { startSmallService } from "../support/raw.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const root = temporaryFolder();
const newFolder = () => mkdtempSync(join(root, "dumps-"));
/** More than two parts. */
const BYTES = 700_001;
const FILE = `/api/dumps/${PLANTED}`;
const content = plantedBytes(BYTES);
const sha256 = createHash("sha256").update(content).digest("hex");

onSqlite("Dumps over HTTP", (engine) => {
  let world: World;

  before(async () => {
    const folder = newFolder();
    plantDump(folder, BYTES);
    world = await createWorld(engine, { SIDEREAL_DUMPS_DIR: folder });
  });

  const fetched = async (headers: Record<string, string> = {}, method = "GET", path = FILE) => {
    const response = await world.request(path, { method, headers });
    return {
      status: response.status,
      headers: response.headers,
      bytes: Buffer.from(await response.arrayBuffer()),
    };
  };

  test("from before a repository was hidden are not offered while a rule is about it, also once it is deleted", async () => {
    const { catalog } = world.modules;
    await world.record(observation("evil/abuse", daily(5)), observation("good/one", daily(5)));
    const target = readHidingTarget("github:evil");
    assert.ok(target);
    const hide = () => catalog.hiding.hide({ target, reason: "a mail", note: null, by: "", endsAt: null });
    world.clock.advance(1);
    await hide();
    assert.deepEqual((await world.get("/api/dumps")).body.data, []);
    assert.equal((await fetched()).status, 404);
    const hidden = await catalog.hiding.find({ provider: "GITHUB", fullName: "evil/abuse" });
    assert.ok(hidden);
    await untrack(world.modules, hidden, { deletes: true });
    assert.equal((await fetched()).status, 404);
    await catalog.hiding.unhide(target);
    assert.equal((await fetched()).status, 200);
    // The rule is older than the dump, but what takes such a name later is in it.
    world.clock.advance(-2);
    await hide();
    assert.equal((await fetched()).status, 200);
    world.clock.advance(3);
    const found = await catalog.findByName("GITHUB", "good/one");
    const renamed = { repositoryId: found?.repository.id ?? 0, at: world.clock.now() };
    await world.record(observation("evil/taken", daily(6), renamed));
    assert.equal((await fetched()).status, 404);
    await catalog.hiding.unhide(target);
  });

  test("are listed with their sizes and checksums, and may be kept by nobody without asking", async () => {
    const { status, headers, body } = await world.get("/api/dumps");
    assert.equal(status, 200);
    assert.equal(headers.get("cache-control"), "private, no-cache");
    assert.deepEqual(body, {
      data: [
        {
          name: PLANTED,
          url: `https://sidereal.example${FILE}`,
          asOf: "2026-04-30T12:00:00.000Z",
          version: 1,
          catalogue: "real",
          repositoryCount: 10,
          snapshots: 50,
          bytes: BYTES,
          sha256,
        },
      ],
    });
  });

  test("are attachments that may be kept for a year, and are not compressed again", async () => {
    const file = await fetched({ "Accept-Encoding": "gzip, br" });
    assert.equal(file.status, 200);
    assert.ok(file.bytes.equals(content));
    assert.equal(file.headers.get("content-length"), String(BYTES));
    assert.equal(file.headers.get("content-encoding"), null);
    assert.equal(file.headers.get("etag"), `"${sha256}"`);
    assert.equal(file.headers.get("cache-control"), "public, max-age=31536000, immutable");
    assert.equal(file.headers.get("accept-ranges"), "bytes");
    assert.equal(file.headers.get("content-type"), "application/gzip");
    assert.equal(file.headers.get("content-disposition"), `attachment; filename="${PLANTED}"`);
    assert.equal(file.headers.get("access-control-allow-origin"), "*");
    assert.match(file.headers.get("access-control-expose-headers") ?? "", /Accept-Ranges, Content-Range/);
  });

  test("send no body to HEAD, and none to who has the file", async () => {
    const head = await fetched({}, "HEAD");
    assert.deepEqual([head.status, head.bytes.length], [200, 0]);
    assert.equal(head.headers.get("content-length"), String(BYTES));
    for (const tag of [`"${sha256}"`, `W/"${sha256}"`, `"x", "${sha256}"`, "*"]) {
      const { status, headers, bytes } = await fetched({ "If-None-Match": tag });
      assert.deepEqual([status, bytes.length], [304, 0], tag);
      assert.equal(headers.get("etag"), `"${sha256}"`);
      assert.equal(headers.get("cache-control"), "public, max-age=31536000, immutable");
    }
    assert.equal((await fetched({ "If-None-Match": '"x"' })).status, 200);
  });

  test("give a range of a file, so that a download can go on", async () => {
    for (const [range, from, until] of [
      ["bytes=0-0", 0, 1],
      ["bytes=1000-", 1_000, BYTES],
      ["bytes=-8", BYTES - 8, BYTES],
      [`bytes=262143-600000`, 262_143, 600_001],
      [`bytes=5-${BYTES * 9}`, 5, BYTES],
    ] as const) {
      const { status, headers, bytes } = await fetched({ Range: range, "If-Range": `"${sha256}"` });
      assert.equal(status, 206, range);
      assert.equal(headers.get("content-range"), `bytes ${from}-${until - 1}/${BYTES}`);
      assert.equal(headers.get("content-length"), String(until - from));
      assert.ok(bytes.equals(content.subarray(from, until)), range);
    }
    const whole = await fetched({ Range: "bytes=5-9", "If-Range": '"another"' });
    assert.deepEqual([whole.status, whole.bytes.length], [200, BYTES]);
    const none = await fetched({ Range: `bytes=${BYTES}-` });
    assert.equal(none.status, 416);
    assert.equal(none.headers.get("content-range"), `bytes */${BYTES}`);
    assert.match(none.bytes.toString(), /RANGE_NOT_SATISFIABLE/);
  });

  test("are no other files, whatever is in the path", async () => {
    for (const path of [
      `/api/dumps/${PLANTED.replace("ndjson.gz", "json")}`,
      `/api/dumps/${PLANTED}.partial`,
      `/api/dumps/${PLANTED}/`,
      "/api/dumps/..%2f..%2f..%2fetc%2fpasswd",
      `/api/dumps/..%2f${PLANTED}`,
      "/api/dumps/sidereal-20260430T120001Z.ndjson.gz",
      `${FILE}%00`,
      FILE.toUpperCase(),
    ]) {
      const { status } = await fetched({}, "GET", path);
      assert.ok(status === 404 || status === 400, `${path} ${status}`);
    }
  });

  test("of earlier versions, which were folders of Parquet files, are not served", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "20260430T120000Z"));
    for (const file of ["manifest.json", "repositories.parquet"])
      writeFileSync(join(folder, "20260430T120000Z", file), "{}");
    const other = await createWorld(engine, { SIDEREAL_DUMPS_DIR: folder });
    assert.deepEqual((await other.get("/api/dumps")).body, { data: [] });
    for (const path of ["20260430T120000Z", "20260430T120000Z/repositories.parquet"])
      assert.equal((await other.request(`/api/dumps/${path}`)).status, 404);
  });

  test("that vanish between list and download are not found", async () => {
    const folder = newFolder();
    plantDump(folder, BYTES);
    const other = await createWorld(engine, { SIDEREAL_DUMPS_DIR: folder });
    await other.get("/api/dumps");
    rmSync(join(folder, PLANTED));
    assert.equal((await other.request(FILE)).status, 404);
    assert.deepEqual((await other.get("/api/dumps")).body, { data: [] });
  });

  test("are a 404 if the operator offers none", async () => {
    const other = await createWorld(engine);
    for (const path of ["/api/dumps", FILE]) {
      const { status, body } = await other.get(path);
      assert.deepEqual([status, body.error.code], [404, "NOT_FOUND"]);
      assert.equal(body.error.message, "This instance offers no dumps.");
    }
  });

  test("cost one unit, whatever their size", async () => {
    const folder = newFolder();
    plantDump(folder, 9 * 2 ** 20, { isSparse: true });
    const other = await createWorld(engine, { SIDEREAL_DUMPS_DIR: folder });
    const left = async () => {
      const { body } = await other.get("/api/limits");
      return body.data.buckets.find(({ bucket }: { bucket: string }) => bucket === "default").remaining;
    };
    const before = await left();
    assert.equal((await (await other.request(FILE)).arrayBuffer()).byteLength, 9 * 2 ** 20);
    assert.equal(before - (await left()), 1);
  });
});

onSqlite("Downloads of dumps", (engine) => {
  let service: Service;
  const folder = newFolder();

  before(async () => {
    plantDump(folder, 64 * 2 ** 20, { isSparse: true });
    service = await startSmallService(await engine.open(), {
      SIDEREAL_DUMPS_DIR: folder,
      SIDEREAL_BASE_URL: "http://localhost:0",
    });
  });
  after(() => service.stop());

  const open = async (): Promise<IncomingMessage> => {
    const request = httpGet(`http://127.0.0.1:${service.port}${FILE}`, { agent: false });
    request.on("error", () => {});
    const [response] = await once(request, "response");
    return response;
  };

  test("that are not read cost little memory, not the file", async () => {
    const before = process.memoryUsage().arrayBuffers;
    const responses = await Promise.all(Array.from({ length: 8 }, open));
    assert.deepEqual(new Set(responses.map(({ statusCode }) => statusCode)), new Set([200]));
    const grown = process.memoryUsage().arrayBuffers - before;
    assert.ok(grown < 8 * 4 * 2 ** 20, `${grown} bytes`);
    for (const response of responses) response.destroy();
  });

  test("of a file that has become shorter break off, so that nobody takes it for whole", async () => {
    const response = await open();
    assert.equal(response.headers["content-length"], String(64 * 2 ** 20));
    truncateSync(join(folder, PLANTED), 2 ** 20);
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const [error] = await once(response, "error");
    assert.equal(error.code, "ECONNRESET");
    assert.ok(bytes < 64 * 2 ** 20);
  });
});

describe("A byte range", () => {
  test("is what RFC 9110 says, and nothing else is one", () => {
    for (const [header, expected] of [
      ["bytes=0-9", { from: 0, until: 10 }],
      ["Bytes=0-9", { from: 0, until: 10 }],
      ["bytes=90-", { from: 90, until: 100 }],
      ["bytes=90-900", { from: 90, until: 100 }],
      ["bytes=-10", { from: 90, until: 100 }],
      ["bytes=-1000", { from: 0, until: 100 }],
      ["bytes=100-", "unsatisfiable"],
      ["bytes=100-200", "unsatisfiable"],
      ["bytes=-0", "unsatisfiable"],
      [undefined, undefined],
      ["bytes=9-0", undefined],
      ["bytes=-", undefined],
      ["bytes=0-1,5-6", undefined],
      ["bytes= 0-1", undefined],
      ["bytes=0-1e3", undefined],
      ["lines=0-1", undefined],
      [`bytes=0-${"9".repeat(100)}`, undefined],
    ] as const)
      assert.deepEqual(byteRange(header, 100), expected, String(header));
    assert.equal(byteRange("bytes=0-", 0), "unsatisfiable");
  });
});
