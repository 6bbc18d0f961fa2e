import assert from "node:assert/strict";
import { before, test } from "node:test";
import { exportCatalogue } from "../../src/transfer/transfer.js";
import { onBothEngines } from "../support/engines.js";
import { call, connectMcp } from "../support/mcp.js";
import { open } from "../support/page.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

const HIDDEN = ["PRIVATE", "BLOCKED"] as const;
const TEXTS = {
  description: "Zeppelin plans",
  homepage: "https://zeppelin.example/",
  topics: ["zeppelin"],
};

onBothEngines("A repository that its forge hides", (engine) => {
  let world: World;
  const ids = new Map<string, string>();
  const record = (availability: "AVAILABLE" | "GONE" | (typeof HIDDEN)[number], at = NOW) =>
    observation(`o/${availability}`, daily(40, 41), { at, facts: { ...TEXTS, availability } });

  before(async () => {
    world = await createWorld(engine);
    await world.record(record("AVAILABLE"), record("GONE"), ...HIDDEN.map((one) => record(one)));
    for (const one of ["AVAILABLE", "GONE", ...HIDDEN])
      ids.set(one, (await world.get(`/api/repos/github/o/${one}`)).body.data.id);
  });

  test("is shown without what its owner wrote on every face, and one that is gone with it", async () => {
    const client = await connectMcp(world);
    for (const one of ["GONE", ...HIDDEN]) {
      const [id, name] = [ids.get(one), encodeURIComponent(`github:o/${one}`)];
      const { token } = (await world.send("POST", "/api/watchlists", { name: "w", ids: [id] })).body.data;
      const shown = await Promise.all(
        [
          `/repos/github/o/${one}`,
          `/api/repos/${id}`,
          `/api/repos?id=${id}`,
          `/api/repos?id=${id}&format=csv`,
          `/api/repos/${id}/metrics?window=all`,
          `/api/metrics?repo=${id}`,
          `/api/embed/chart?repo=${name}`,
          `/api/embed/chart.svg?repo=${name}`,
          `/api/embed/badge.svg?repo=${name}`,
          `/api/watchlists/${token}/repositories`,
          `/watchlists/${token}`,
          `/compare?repo=${name}&repo=${encodeURIComponent("github:o/AVAILABLE")}`,
        ].map(async (path) => {
          const response = await world.request(path);
          assert.ok(response.status === 200, `${path}: ${response.status}`);
          return [
            path.replace(`${id}`, "ID"),
            (await response.text()).toLowerCase().includes("zeppelin"),
          ] as const;
        }),
      );
      const { text } = await call(client, "get_repositories", { repositories: `github:o/${one}` });
      const faces = [...shown, ["mcp", text.toLowerCase().includes("zeppelin")] as const];
      const leaks = faces.filter(([, isShown]) => isShown).map(([path]) => path);
      if (one === "GONE") assert.ok(leaks.includes("/api/repos/ID") && leaks.includes("mcp"), leaks.join());
      else assert.deepEqual(leaks, [], one);
    }
  });

  test("is for no search engine, unlike others", async () => {
    for (const one of ["AVAILABLE", "GONE", ...HIDDEN]) {
      const { html } = await open(world, `/repos/github/o/${one}`);
      const isHidden = one === "PRIVATE" || one === "BLOCKED";
      assert.equal(html.includes('<meta name="robots" content="noindex"'), isHidden, one);
    }
    for (const path of [`/api/repos/${ids.get("PRIVATE")}`, "/api/embed/badge.svg?repo=github:o/PRIVATE"])
      assert.equal((await world.get(path)).headers.get("x-robots-tag"), "noindex", path);
  });

  test("is in exports, and so in dumps, without what its owner wrote, and with its snapshots", async () => {
    const { catalog } = world.modules;
    let text = "";
    for await (const lines of exportCatalogue(catalog)) text += lines;
    const lines: { fullName?: string; type: string }[] = text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
    for (const one of ["AVAILABLE", "GONE", ...HIDDEN]) {
      const isHidden = one === "PRIVATE" || one === "BLOCKED";
      const line = lines.find(({ type, fullName }) => type === "repository" && fullName === `o/${one}`);
      assert.equal(JSON.stringify(line).includes("eppelin"), !isHidden, one);
    }
    assert.equal(lines.filter(({ type }) => type === "snapshot").length, 8);
  });

  test("stays hidden if its forge no longer has it, and shows its texts again once it is public again", async () => {
    const state = async () => {
      const { availability, description } = (await world.get("/api/repos/github/o/PRIVATE")).body.data;
      return [availability, description];
    };
    const report = (availability: "AVAILABLE" | "GONE", at: number) =>
      world.record(observation("o/PRIVATE", [], { at, facts: { availability } }));
    await report("GONE", NOW + 1_000);
    assert.deepEqual(await state(), ["PRIVATE", null]);
    await report("AVAILABLE", NOW + 2_000);
    assert.deepEqual(await state(), ["AVAILABLE", "Zeppelin plans"]);
    await report("GONE", NOW + 3_000);
    assert.deepEqual(await state(), ["GONE", "Zeppelin plans"]);
  });
});
