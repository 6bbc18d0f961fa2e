import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import { DatabaseFault } from "../../src/database/fault.js";
import { ForgeStates } from "../../src/forges/forge-states.js";
import { createLog } from "../../src/lib/log.js";
import { onBothEngines } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";

const NOW = Date.UTC(2026, 0, 10);

onBothEngines("The states of forges", (engine) => {
  const readSecret = async () => "the secret of the service";
  const clock = new ManualClock(NOW);
  const adding = (states: ForgeStates, forge: string) =>
    states.change(forge, (state) => {
      const count = Number(state ?? 0) + 1;
      return { state: String(count), result: count };
    });

  test("are changed by one process at a time, from the first change on", async () => {
    const first = await engine.open();
    const second = await openDatabase({ ...engine.location(), pool: 4, log: createLog("silent") });
    const all = [first, second].map((database) => new ForgeStates({ database, clock, readSecret }));
    const counts = await Promise.all(
      Array.from({ length: 60 }, (_, i) => adding(all[i % 2] ?? assert.fail(), i % 3 === 0 ? "A" : "B")),
    );
    assert.deepEqual(
      counts.toSorted((a, b) => a - b),
      [...Array(20).keys()].flatMap((i) => [i + 1, i + 1]).concat([...Array(20).keys()].map((i) => i + 21)),
    );
    await second.close();
  });

  test("stay as they are if a change fails", async () => {
    const states = new ForgeStates({ database: await engine.open(), clock, readSecret });
    await adding(states, "A");
    await assert.rejects(
      states.change("A", () => {
        throw new Error("no");
      }),
      /^Error: no$/,
    );
    assert.equal(await adding(states, "A"), 2);
  });

  test("name a token the same in all processes, and by no secret of their own differently", async () => {
    const database = await engine.open();
    const states = new ForgeStates({ database, clock, readSecret });
    const other = new ForgeStates({ database, clock, readSecret });
    const name = await states.nameOf("token ghp_abc");
    assert.equal(await other.nameOf("token ghp_abc"), name);
    assert.notEqual(await other.nameOf("token ghp_abd"), name);
    assert.match(name, /^[\w-]{43}$/);
    const elsewhere = new ForgeStates({ database, clock, readSecret: async () => "another secret" });
    assert.notEqual(await elsewhere.nameOf("token ghp_abc"), name);
  });

  test("that cannot be reached are a reason to wait", async () => {
    const fault = new DatabaseFault("unavailable", new Error("the server is away"));
    const away = () => Promise.reject(fault);
    const database = await engine.open();
    const states = new ForgeStates({ database, clock, readSecret: away });
    const expected = { kind: "quota", until: NOW + 5_000 };
    await assert.rejects(states.nameOf("token"), expected);
    const failing = states.change("A", () => {
      throw fault;
    });
    await assert.rejects(failing, expected);
    assert.equal(await adding(states, "A"), 1);
  });
});
