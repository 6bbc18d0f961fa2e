import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Cluster, ClusterFailure, WITHOUT_CLUSTER } from "../support/cluster.js";
import { until } from "../support/until.js";

/** Searches that an address may send in a minute. */
const SEARCHES = 20;

describe("The servers of the cluster of the examples", { skip: WITHOUT_CLUSTER }, () => {
  const cluster = Cluster.create();
  after(() => cluster.stop());

  test("are made again after the first start was interrupted", async () => {
    const other = createServer().listen(cluster.firstServerPort, "127.0.0.1");
    await once(other, "listening");
    await assert.rejects(cluster.run("up"), /db1 did not start/);
    other.close();
    await once(other, "close");
    for (const node of ["db1", "db2", "db3"]) await cluster.run("start", node);
    // A replica accepts connections before it has found the primary.
    await until("both replicas follow the primary", async () =>
      /db2 is quorum[\s\S]*db3 is quorum/.test(await cluster.run("status")),
    );
  });

  test("no replica is promoted that has received less than another one, though it was asked for by name", async () => {
    const ask = (statement: string) => cluster.run("psql", "-c", statement);
    await ask("create table acknowledged as select 1 as n");
    await cluster.run("stop", "db2");
    await ask("insert into acknowledged values (2)");
    await cluster.run("kill", "primary");
    await cluster.run("start", "db2");
    await assert.rejects(cluster.run("promote", "db2"), /db3 has received more than db2/);
    assert.equal(await cluster.run("promote"), "db3 is the primary\n");
    assert.equal(await ask("select max(n) from acknowledged"), "2\n");
  });
});

describe("The cluster of the examples", { skip: WITHOUT_CLUSTER }, () => {
  let cluster: Cluster;
  const get = async (path: string) => {
    const response = await fetch(cluster.url + path);
    // biome-ignore lint/suspicious/noExplicitAny: a response of any route.
    const body: any = await response.json();
    return { status: response.status, body };
  };
  /** The log of nginx, which has a request once the next one is handled. */
  const readLog = async () => {
    await get("/healthz");
    return readFileSync(join(cluster.state, "nginx/access.log"), "utf8");
  };
  /** Creates a watchlist, as soon as writes succeed: a process needs a moment to notice that the database is back. */
  const createList = async (name: string): Promise<string> => {
    for (;;) {
      const response = await fetch(`${cluster.url}/api/watchlists`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: cluster.url },
        body: JSON.stringify({ name }),
      });
      const text = await response.text();
      if (response.status === 201) return JSON.parse(text).data.token;
      assert.ok([502, 503].includes(response.status), text);
    }
  };
  /** Statuses of reads that are sent one after the other until the work is done. */
  const readDuring = async (work: () => Promise<unknown>): Promise<Map<number, number>> => {
    const statuses = new Map<number, number>();
    let isDone = false;
    const working = work().finally(() => {
      isDone = true;
    });
    for (let page = 1; !isDone; page++) {
      const { status } = await get(`/api/repos?page=${(page % 20) + 1}`);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    await working;
    return statuses;
  };

  before(async () => {
    const settings = {
      SIDEREAL_LIMIT_DEFAULT_ANONYMOUS: "100000",
      SIDEREAL_LIMIT_WRITE_ANONYMOUS: "100000",
      SIDEREAL_LIMIT_SEARCH_ANONYMOUS: String(SEARCHES),
    };
    cluster = await Cluster.start({ isSmall: true, settings });
  });
  after(() => cluster?.stop());

  test("serves the bundled sample through nginx", async () => {
    const { status, body } = await get("/api/stats/summary");
    assert.equal(status, 200);
    assert.equal(body.data.catalogue, "sample");
    assert.equal(body.data.repositoryCount, 2_000);
  });

  test("its serve processes count limits together", async () => {
    const sent = await Promise.all(
      Array.from({ length: 2 * SEARCHES }, (_, i) => get(`/api/repos?q=web&page=${i + 1}`)),
    );
    const passed = sent.filter(({ status }) => status === 200).length;
    assert.equal(new Set((await readLog()).match(/"127[.\d]+:\d+"/g)).size, 2, "both have responded");
    // Each would let as many pass if it counted for itself. Some come back while the requests are sent.
    assert.ok(passed >= SEARCHES && passed < 1.5 * SEARCHES, `${passed} passed`);
  });

  test("public reads go on from the replica while PgBouncer is away", async () => {
    await cluster.run("kill", "pgbouncer");
    const statuses = await readDuring(async () => {
      await cluster.run("start", "pgbouncer");
      await createList("after pgbouncer");
    });
    assert.deepEqual([...statuses.keys()], [200]);
  });

  test("no read fails when a serve process is killed, and when the replica is", async () => {
    for (const part of ["serve1", "replica"]) {
      const statuses = await readDuring(async () => {
        await cluster.run("kill", part);
        await createList(`after ${part}`);
      });
      assert.deepEqual([...statuses.keys()], [200], part);
    }
  });

  test("up starts what was killed, and nothing else", async () => {
    const printed = await cluster.run("up", "--small");
    assert.deepEqual(printed.match(/^\S+(?=: starting)/gm), ["db2", "serve1"]);
    assert.doesNotMatch(await cluster.run("status"), /stopped/);
  });

  test("a former primary is not started beside the new one, and joins it as a replica", async () => {
    const token = await createList("before the failure");
    await cluster.run("promote", "db2");
    await createList("after the failure");
    assert.equal((await get(`/api/watchlists/${token}`)).body.data.name, "before the failure");
    await assert.rejects(cluster.run("start", "db1"), ClusterFailure);
    await cluster.run("rejoin", "db1");
    assert.match(await cluster.run("status"), /db2 .*primary[\s\S]*db1 is async/);
  });

  test("the logs of nginx have no token of a watchlist, though no process responds", async () => {
    const token = await createList("secret");
    await get(`/api/watchlists/${token}`);
    const log = await readLog();
    assert.match(log, /GET \/api\/watchlists\/sidw_\.{3}"/);
    for (const part of ["serve1", "serve2"]) await cluster.run("kill", part);
    assert.equal((await fetch(`${cluster.url}/api/watchlists/${token}`)).status, 502);
    for (const part of ["serve1", "serve2"]) await cluster.run("start", part);
    // nginx tries them again after two seconds.
    while ((await fetch(`${cluster.url}/healthz`)).status !== 200);
    const errors = readFileSync(join(cluster.state, "nginx.log"), "utf8");
    assert.deepEqual(
      [log, await readLog(), errors].map((text) => text.includes(token)),
      [false, false, false],
    );
  });

  test("down ends every process, and removes everything on request", async () => {
    const pids = readdirSync(cluster.state)
      .filter((name) => name.endsWith(".pid"))
      .map((name) => readFileSync(join(cluster.state, name), "utf8").split(" ")[0]);
    assert.equal(pids.length, 7);
    await cluster.run("down", "--delete");
    assert.equal(existsSync(cluster.state), false);
    for (const pid of pids) assert.equal(isRunning(pid ?? ""), false, pid);
  });
});

/** Whether a process runs; one that has ended may not have been reaped yet. */
function isRunning(pid: string): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
