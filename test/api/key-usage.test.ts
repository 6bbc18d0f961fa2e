import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { HOUR_MS, isoTime } from "../../src/lib/clock.js";
import { createToken } from "../../src/lib/tokens.js";
import { errorOf, invalid } from "../support/answers.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { createKey, type Member, signIn } from "../support/members.js";
import { expectedView, type Sent } from "../support/usage.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

const CHROME =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36";

const USAGE_TABLES = ["usage_routes", "usage_allowances", "usage_callers", "usage_events"] as const;

/** A request of the script, and the route it must be counted under. */
interface Step {
  route: string;
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  peer?: string;
  address?: string;
  agent?: string;
  family?: string;
}

const GZIP = { "Accept-Encoding": "gzip" };
const METRICS = { route: "/api/repos/{id}/metrics", path: "/api/repos/1/metrics" };

/** Half of it is sent before the hour ends, half after. */
const SCRIPT: readonly Step[] = [
  { route: "/api/repos", path: "/api/repos" },
  { route: "/api/repos", path: "/api/repos?sort=stars", headers: GZIP, agent: "curl/8.5.0", family: "curl" },
  { route: "/api/repos", path: "/api/repos?sort=stars", headers: { "Accept-Encoding": "br" } },
  { route: "/api/repos", path: "/api/repos?q=one", agent: CHROME, family: "Chrome" },
  { route: "/api/repos", path: "/api/repos?sort=stars", method: "HEAD", peer: "192.0.2.77" },
  { route: "/api/repos", path: "/api/repos?sort=none", peer: "2001:db8:1:2::3", address: "2001:db8:1:2::3" },
  { route: "/api/repos", path: "/api/repos?sort=none", headers: { Accept: "application/problem+json" } },
  METRICS,
  { ...METRICS, peer: "::ffff:198.51.100.9", address: "198.51.100.9" },
  { ...METRICS, peer: "2001:db8::1", address: "2001:db8::1" },
  // From here on the bucket of metrics has nothing left.
  METRICS,
  { ...METRICS, method: "HEAD" },
  { route: "/api/repos/{provider}/{owner}/{name}", path: "/api/repos/github/a/one" },
  { route: "/api/repos/{provider}/{owner}/{name}", path: "/api/repos/github/a/none" },
  { route: "other", path: "/api/nothing/secret-part?key=concealed", agent: "a@example.org", family: "Other" },
  { route: "/api/repos", path: "/api/repos", method: "PUT", body: {} },
  { route: "/api/repos", path: "/api/repos", method: "OPTIONS" },
  { route: "/api/me", path: "/api/me" },
  { route: "/api/watchlists", path: "/api/watchlists", method: "POST", body: { name: "x" } },
  { route: "/api/watchlists", path: "/api/watchlists", method: "POST", body: { names: "x" } },
  { route: "/api/watchlists/{token}", path: `/api/watchlists/${createToken("sidw")}` },
  { route: "/api/limits", path: "/api/limits", peer: "192.0.2.78" },
  // Counted in the allowance of the address, which is not the key's.
  { route: "/api/auth/magic-link", path: "/api/auth/magic-link", method: "POST", body: {} },
];

onSqliteAndLong("The usage of a key", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const newMember = () => signIn(world, mailbox, `somebody-${++people}@example.org`);

  before(async () => {
    world = await createWorld(engine, {
      ...mailbox.settings,
      SIDEREAL_CACHE_MB: "8",
      ...limits("heavy.account=3"),
    });
    const repositories = Array.from({ length: 20 }, (_, i) =>
      observation(`b/repository-${i}`, daily(1, 2 + i)),
    );
    await world.record(observation("a/one", daily(1, 2)), ...repositories);
  });

  /** Sends a step with a key, and tells what came back. */
  const send = async (step: Step, key: string, more: Record<string, string> = {}) => {
    const { route, path, method = "GET", headers = {}, body, peer = "192.0.2.1" } = step;
    world.clock.advance(1_000);
    const response = await world.request(path, {
      method,
      peer,
      headers: {
        "X-API-Key": key,
        ...(step.agent === undefined ? {} : { "User-Agent": step.agent }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
        ...more,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const told = (name: string) => Number(response.headers.get(`x-ratelimit-${name}`));
    const bucket = response.headers.get("x-ratelimit-resource") ?? "none";
    const { error, code } = response.status >= 400 && method !== "HEAD" ? JSON.parse(bytes.toString()) : {};
    const counted = route === "other" ? null : method === "HEAD" ? "GET" : method;
    const sent: Sent = {
      at: world.clock.now(),
      method: counted,
      route,
      path: (path.split("?")[0] ?? "").replace(/sid[wr]_\w+/, "…"),
      status: response.status,
      bytes: bytes.byteLength,
      micros: 0,
      code: response.status < 400 ? null : (error?.code ?? code ?? "RATE_LIMITED"),
      allowance:
        bucket === "auth" ? undefined : { bucket, limit: told("limit"), remaining: told("remaining") },
      address: step.address ?? peer,
      family: step.family ?? "None",
    };
    return { sent, headers: response.headers };
  };
  /** What a view must be as JSON. */
  const asJson = (keyId: string, sent: readonly Sent[], period: "24h" | "7d" | "30d" | "90d" = "24h") => {
    const { stepMs, ...view } = expectedView(Number(keyId), sent, period, world.clock.now());
    const times = new Set(["at", "from", "to", "lastSeenAt"]);
    return JSON.parse(
      JSON.stringify({ ...view, keyId, stepSeconds: stepMs / 1_000 }, (name, value) =>
        times.has(name) ? isoTime(value) : value,
      ),
    );
  };
  const usageOf = (owner: Member, id: string, period?: string) =>
    world.get(`/api/me/keys/${id}/usage${period === undefined ? "" : `?window=${period}`}`, owner.headers);

  test("is what a key reads of itself, and nobody else", async () => {
    const owner = await newMember();
    const [one, two] = [await createKey(world, owner, "one"), await createKey(world, owner, "two")];
    const own = (key: string) => world.get("/api/key/usage?window=7d", { "X-API-Key": key });
    await own(one.key);
    const { status, body } = await own(one.key);
    assert.equal(status, 200);
    assert.deepEqual([body.data.keyId, body.data.window, body.data.totals.requests], [one.id, "7d", 1]);
    assert.equal((await own(two.key)).body.data.totals.requests, 0);
    assert.equal(errorOf(await world.get("/api/key/usage", owner.headers)).code, "UNAUTHENTICATED");
  });

  test("is what was sent with it, field by field, over the border of two hours", async () => {
    const owner = await newMember();
    const [one, two] = [await createKey(world, owner, "one"), await createKey(world, owner, "two")];
    const other = await createKey(world, await newMember());
    const sent: Record<string, Sent[]> = { [one.id]: [], [two.id]: [], [other.id]: [] };
    world.clock.set(NOW + HOUR_MS - 30_000);
    const statuses = new Set<number>();
    for (const [i, step] of SCRIPT.entries()) {
      // The last one would be bounded by what its account has left.
      const isOfTwo = i % 4 === 3 && step.method !== "HEAD";
      for (const { id, key } of isOfTwo ? [one, two, other] : [one, other]) {
        const { sent: told } = await send(step, key);
        sent[id]?.push(told);
        statuses.add(told.status);
      }
    }
    const listed = { route: "/api/repos", path: "/api/repos?sort=stars" };
    const { headers } = await send(listed, other.key);
    sent[other.id]?.push((await send(listed, other.key)).sent);
    const again = await send(listed, one.key, { "If-None-Match": headers.get("etag") ?? "" });
    sent[one.id]?.push(again.sent);
    statuses.add(again.sent.status);
    assert.deepEqual([...statuses].sort(), [200, 201, 204, 304, 400, 401, 404, 405, 429]);
    const { data } = (await usageOf(owner, one.id)).body;
    assert.deepEqual(data, asJson(one.id, sent[one.id] ?? []));
    // The script has in it what it is for.
    const hours = data.series.filter(({ requests }: { requests: number }) => requests > 0);
    assert.equal(hours.length, 2);
    const [plain, gzip, br] = (sent[one.id] ?? []).map(({ bytes }) => bytes);
    assert.ok((gzip ?? 0) > 100 && (gzip ?? 0) * 2 < (plain ?? 0) && br !== gzip);
    // The other key of the account has its own allowance.
    assert.equal(data.totals.blocked, 2);
    assert.equal(
      data.pressure.find(({ bucket }: { bucket: string }) => bucket === "heavy").lowestRemaining,
      0,
    );
    for (const period of ["24h", "7d", "30d", "90d"] as const) {
      const shown = (await usageOf(owner, two.id, period)).body.data;
      assert.deepEqual(shown, asJson(two.id, sent[two.id] ?? [], period), period);
    }
    await assertAbsent(engine, world, ["concealed", "sidw_", CHROME]);
  });

  test("of a key that was never used is nothing, at every step", async () => {
    const owner = await newMember();
    const { id } = await createKey(world, owner);
    const { status, body, headers } = await usageOf(owner, id);
    assert.deepEqual([status, body], [200, { data: asJson(id, []) }]);
    assert.equal(body.data.series.length, 25);
    assert.equal(headers.get("cache-control"), "no-store");
  });

  test("has one of four periods", async () => {
    const owner = await newMember();
    const { id } = await createKey(world, owner);
    const earlier = await world.get(`/api/me/keys/${id}/usage?period=7d`, owner.headers);
    assert.equal(earlier.body.data.window, "7d");
    assert.equal(earlier.headers.get("deprecation"), "@1795392000");
    for (const period of ["1h", "", "24H"])
      assert.deepEqual(
        errorOf(await usageOf(owner, id, period)),
        invalid("window", "must be one of 24h, 7d, 30d, 90d", { allowed: ["24h", "7d", "30d", "90d"] }),
      );
    assert.equal(errorOf(await usageOf(owner, "x")).code, "VALIDATION_FAILED");
  });

  test("does not grow by requests with keys that open nothing, or that are not of the API", async () => {
    const owner = await newMember();
    const { id, key } = await createKey(world, owner);
    await world.get("/api/repos", { "X-API-Key": createToken("sid") });
    await world.get("/api/repos", { "X-API-Key": key, Authorization: `Bearer ${createToken("sid")}` });
    await world.get("/", { "X-API-Key": key });
    assert.deepEqual((await usageOf(owner, id)).body.data, asJson(id, []));
  });

  test("stays to be seen after the key is revoked, and what is refused then is not counted", async () => {
    const owner = await newMember();
    const { id, key } = await createKey(world, owner);
    const { sent } = await send({ route: "/api/home", path: "/api/home" }, key);
    assert.equal((await world.send("DELETE", `/api/me/keys/${id}`, undefined, owner.headers)).status, 204);
    assert.equal((await world.get("/api/home", { "X-API-Key": key })).status, 401);
    assert.deepEqual((await usageOf(owner, id)).body.data, asJson(id, [sent]));
  });
});

/** Fails where a row of usage, or where there are files of the database one of these, holds one of the texts. */
async function assertAbsent(engine: Engine, { modules }: World, texts: readonly string[]): Promise<void> {
  const { read } = modules.database;
  const rows = await Promise.all(
    USAGE_TABLES.map((table) => read.selectFrom(table).selectAll().execute().then(JSON.stringify)),
  );
  const { dataDir } = engine.location();
  const files = dataDir === "" ? [] : readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name)));
  for (const places of [rows.map((text) => Buffer.from(text)), files]) {
    if (places.length > 0) assert.ok(places.some((bytes) => bytes.includes("192.0.2.77")));
    for (const text of texts) assert.ok(!places.some((bytes) => bytes.includes(text)), `${text} is kept`);
  }
}
