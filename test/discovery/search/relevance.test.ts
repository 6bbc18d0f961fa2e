import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { LiveModel } from "../../../src/discovery/live.js";
import { bestOf, searchIn } from "../../../src/discovery/search.js";
import type { Catalog } from "../../../src/repositories/repositories.js";
import { onBothEngines } from "../../support/engines.js";
import { discoveryOf } from "../../support/lists.js";
import { examples, fc } from "../../support/properties.js";
import { observation, snapshot } from "../../support/world.js";
import { expectedMatches, type Listed } from "./model.js";

const WORDS = [
  ..."rust rusty rustc react reactive re r c c++ c# f# js nextjs next.js web app a ab abc".split(" "),
  ..."学习 深度学习 カナ café cafe straße ١٢ 𝒳 𐌰𐌱 ｆｕｌｌ Éa é x-y x_y K8s kubernetes".split(" "),
];
const OWNERS = ["rust-lang", "facebook", "深度", "a", "gitlab-org/sub", "Next", "c"];
const LIMIT = 10_001;

async function find(live: LiveModel, text: string, { limit, correct }: { limit: number; correct: boolean }) {
  const { model, vocabulary } = await live.current();
  const words = correct ? await vocabulary.get() : undefined;
  return model.evaluate((evaluation) => {
    const found = searchIn(evaluation, text, { scope: "all", vocabulary: words });
    const slots = found === undefined ? [] : bestOf(model, found.matches, limit);
    return {
      ids: slots.map((slot) => model.columns.id[slot] ?? 0),
      total: found?.matches.total ?? 0,
      corrected: found?.corrected ?? undefined,
    };
  });
}

onBothEngines("A search", (engine) => {
  let live: LiveModel;
  let catalog: Catalog;
  let listed: Listed[] = [];

  const record = async (made: readonly Omit<Listed, "id">[]) => {
    await catalog.record(
      made.map(({ owner, name, description, topics, language, stars }) =>
        observation(`${owner}/${name}`, [snapshot(1, stars)], { facts: { description, topics, language } }),
      ),
    );
    const dumped = (await catalog.dump(0, 1_000)).map(({ repository }) => repository);
    listed = dumped.map((repository) => ({ ...repository, stars: repository.stars ?? -1 }));
  };
  const madeUp = (count: number, seed: number): Omit<Listed, "id">[] => {
    const pick = <T>(values: readonly T[], at: number): T => {
      const [value] = values.slice(at % values.length);
      assert.ok(value !== undefined);
      return value;
    };
    return Array.from({ length: count }, (_, i) => {
      const at = (i + 1) * seed;
      return {
        owner: pick(OWNERS, at),
        name: `${pick(WORDS, at >> 1)}${i % 3 === 0 ? "" : `-${pick(WORDS, at >> 3)}`}${i % 5 === 0 ? "" : i}`.replaceAll(
          "/",
          "",
        ),
        description: i % 4 === 0 ? null : `${pick(WORDS, at >> 2)} ${pick(WORDS, i)} for ${pick(WORDS, at)}`,
        topics: i % 2 === 0 ? [pick(["web", "machine-learning", "c-plus-plus"], at)] : [],
        language: pick(["Rust", "C++", "C#", null], at >> 4),
        stars: (at * 7) % 50,
      };
    });
  };

  before(async () => {
    ({ catalog, live } = discoveryOf(await engine.open()));
    await record(madeUp(200, 97));
  });

  const queries = fc.oneof(
    fc
      .array(fc.constantFrom(...WORDS, ...OWNERS), { minLength: 1, maxLength: 4 })
      .map((words) => words.join(" ")),
    fc
      .tuple(fc.constantFrom(...OWNERS), fc.constantFrom(...WORDS))
      .map(([owner, name]) => `${owner}/${name}`),
    fc
      .constantFrom(...WORDS)
      .chain((word) => fc.nat({ max: word.length }).map((length) => word.slice(0, length))),
    fc.string({ unit: "binary", maxLength: 30 }),
    fc
      .array(fc.constantFrom(..."abcrw+#./-_ %*\"'\\:()|&!\u0000\ud800é学".split("")), { maxLength: 12 })
      .map((signs) => signs.join("")),
  );

  test("finds exactly what its definition says, in the same order, whatever the text", async () => {
    await fc.assert(
      fc.asyncProperty(queries, async (text) => {
        const { ids } = await find(live, text, { limit: LIMIT, correct: false });
        assert.deepEqual(ids, expectedMatches(listed, text), JSON.stringify(text));
      }),
      { numRuns: examples(600) },
    );
  });

  test("cut off at a limit finds the best of them, and counts all", async () => {
    for (const text of ["r", "rust", "c", "a", "web", "for"]) {
      const all = expectedMatches(listed, text);
      for (const limit of [1, 2, 7, all.length]) {
        const { ids, total } = await find(live, text, { limit, correct: false });
        assert.deepEqual([ids, total], [all.slice(0, limit), all.length], `${text}, ${limit}`);
      }
    }
  });

  test("finds the same after repositories were added, changed and removed as one that is loaded then", async () => {
    await record(madeUp(260, 89));
    for (const text of WORDS)
      assert.deepEqual(
        (await find(live, text, { limit: LIMIT, correct: false })).ids,
        expectedMatches(listed, text),
        text,
      );
  });
});

onBothEngines("People", (engine) => {
  let live: LiveModel;
  let catalog: Catalog;
  const found = async (text: string, correct = true) => {
    const { ids, corrected } = await find(live, text, { limit: 100, correct });
    return { names: (await catalog.findMany(ids)).map(({ fullName }) => fullName), corrected };
  };
  const first = async (text: string) => (await found(text)).names[0];

  before(async () => {
    ({ catalog, live } = discoveryOf(await engine.open()));
    const repository = (fullName: string, stars: number, facts = {}) =>
      observation(fullName, [snapshot(1, stars)], { facts });
    await catalog.record([
      repository("facebook/react", 245_000, {
        description: "The library for web and native user interfaces.",
      }),
      repository("tensorflow/tensorflow", 195_000, { language: "C++" }),
      repository("tensorflow/models", 78_000),
      repository("microsoft/vscode", 184_000, { topics: ["editor"] }),
      repository("vercel/next.js", 139_000),
      repository("facebook/react-native", 126_000),
      repository("rustdesk/rustdesk", 113_000, { language: "Rust" }),
      repository("rust-lang/rust", 112_000, { language: "Rust" }),
      repository("denoland/deno", 104_000, { language: "Rust" }),
      repository("dotnet/fsharp", 4_000, { language: "F#" }),
      repository("someone/react", 3),
      repository("some-one/react", 2),
      repository("学习/笔记", 60, { description: "深度学习" }),
      repository("o/tensors", 1, { description: "tensorflow and café" }),
      repository("o/flows", 1, { description: "tensorflow" }),
      repository("o/tensorfl", 1),
    ]);
  });

  test("find the repository they mean first", async () => {
    for (const [text, name] of [
      ["rust", "rust-lang/rust"],
      ["rust-lang/ru", "rust-lang/rust"],
      ["https://github.com/rust-lang/rust", "rust-lang/rust"],
      ["https://github.com/rust-lang/rust/issues?q=is%3Aopen#top", "rust-lang/rust"],
      ["git@github.com:rust-lang/rust.git", "rust-lang/rust"],
      ["github.com/rust-lang/rust", "rust-lang/rust"],
      ["www.github.com/rust-lang/rust/tree/master", "rust-lang/rust"],
      ["github:rust-lang/rust", "rust-lang/rust"],
      ["git+https://github.com/rust-lang/rust.git", "rust-lang/rust"],
      ["git clone https://github.com/rust-lang/rust.git", "rust-lang/rust"],
      ["gh repo clone rust-lang/rust", "rust-lang/rust"],
      ["rust-lang/rust.git", "rust-lang/rust"],
      ["<https://github.com/vercel/next.js>", "vercel/next.js"],
      ["react", "facebook/react"],
      ["react facebook", "facebook/react"],
      ["facebook react", "facebook/react"],
      ["some-one/react", "some-one/react"],
      ["someone/react", "someone/react"],
      ["vs code", "microsoft/vscode"],
      ["VSCode", "microsoft/vscode"],
      ["next.js", "vercel/next.js"],
      ["nextjs", "vercel/next.js"],
      ["c++", "tensorflow/tensorflow"],
      ["f#", "dotnet/fsharp"],
      ["cafe", "o/tensors"],
      ["学习", "学习/笔记"],
    ] as const)
      assert.equal(await first(text), name, text);
    assert.deepEqual((await found("rust")).names, ["rust-lang/rust", "rustdesk/rustdesk", "denoland/deno"]);
  });

  test("get what they meant for a typing error, if little matches the text as it is", async () => {
    const { names, corrected } = await found("Tensorflw models");
    assert.deepEqual([names, corrected], [["tensorflow/models"], "tensorflow models"]);
    for (const text of ["tensorflwo", "tensorlow", "tensorfllow", "tenzorflow"])
      assert.deepEqual((await found(text)).corrected, "tensorflow", text);
    assert.deepEqual(await found("tensorflwo", false), { names: [], corrected: undefined });
  });

  test("get the text as it is if it is a name, or if a correction finds hardly more", async () => {
    assert.deepEqual(await found("tensorfl"), {
      names: ["o/tensorfl", "tensorflow/tensorflow", "tensorflow/models", "o/flows", "o/tensors"],
      corrected: undefined,
    });
    assert.deepEqual((await found("flowss")).corrected, undefined, "too few repositories have the word");
  });
});
