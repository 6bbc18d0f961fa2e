import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { findNamed } from "../../src/web/naming.js";
import { onSqliteAndLong } from "../support/engines.js";
import { countStatements } from "../support/statements.js";
import { createWorld, observation } from "../support/world.js";

onSqliteAndLong("The names of a form", (engine) => {
  test("are looked up as a set: three statements for 500 names, known or not", async () => {
    const world = await createWorld(engine);
    await world.record(...Array.from({ length: 250 }, (_, i) => observation(`known/r${i}`)));
    const counted = countStatements(world.modules.database);
    const modules = buildModules(counted.database, { clock: world.clock, log: createLog("silent") });
    await modules.live.current();
    const before = counted.statements();
    const lines = Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? `known/r${i / 2}` : `no/body${i}`));
    const { ids, unknown } = await findNamed(modules, lines.join("\n"));
    assert.equal(ids.length, 250);
    assert.equal(unknown.length, 250);
    const statements = counted.statements() - before;
    assert.ok(statements > 0 && statements <= 3, `${statements} statements`);
  });
});
