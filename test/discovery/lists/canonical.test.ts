import assert from "node:assert/strict";
import { test } from "node:test";
import { filterParameters, filterWords, type ListFilters, listQuery } from "../../../src/discovery/query.js";
import { fc } from "../../support/properties.js";

/** The filters of a request with these parameters. */
function parsed(parameters: URLSearchParams): ListFilters {
  const names = [...new Set(parameters.keys())];
  const values = names.map((name) => {
    const all = parameters.getAll(name);
    return [name, all.length === 1 ? all[0] : all];
  });
  return listQuery.parse(Object.fromEntries(values));
}

const names = fc.subarray(["Go", "rust", "C++", "c#", "Jupyter Notebook", "a&b=c"], { minLength: 1 });
const day = fc
  .date({ min: new Date("2001-01-01"), max: new Date("2030-01-01"), noInvalidDate: true })
  .chain((date) => fc.constantFrom(date.toISOString(), date.toISOString().slice(0, 10)));
const flag = fc.constantFrom("true", "false", "any");
const written = fc.record(
  {
    q: fc.string({ unit: "grapheme", maxLength: 20 }),
    provider: fc.constantFrom("github", "GitLab", "CODEBERG"),
    language: names,
    topic: names,
    license: fc.constantFrom("MIT", "GPL-3.0-only OR MIT"),
    minStars: fc.nat().map(String),
    maxStars: fc.nat().map(String),
    createdAfter: day,
    createdBefore: day,
    pushedAfter: day,
    updatedAfter: day,
    archived: flag,
    fork: flag,
    reliableOnly: fc.constantFrom("true", "false"),
    excludeAnomalous: fc.constantFrom("true", "false"),
  },
  { requiredKeys: [] },
);

test("parameters give back the filters they were made from, in one form", () => {
  fc.assert(
    fc.property(written, (query) => {
      const filters: ListFilters = listQuery.parse(query);
      const parameters = filterParameters(filters);
      const again = parsed(parameters);
      assert.equal(String(filterParameters(again)), String(parameters));
      const compared = ({ q, reliableOnly, excludeAnomalous, ...others }: ListFilters) => ({
        ...others,
        ...{ q: q || undefined, reliableOnly, excludeAnomalous },
      });
      assert.deepEqual(compared(again), compared(filters));
    }),
  );
});

test("order, case and defaults do not change the address", () => {
  const forms = [
    { language: ["Rust", "go"], topic: "CLI", provider: "GitHub", reliableOnly: "false", q: " " },
    { provider: "github", topic: ["cli", "cli"], language: ["GO", "rust", "go"] },
  ].map((query) => String(filterParameters(listQuery.parse(query))));
  assert.deepEqual(forms, Array(2).fill("provider=github&language=go&language=rust&topic=cli"));
});

test("every filter has English words", () => {
  const query = {
    q: "fast json",
    provider: "GitLab",
    language: ["Rust", "Go"],
    topic: "cli",
    license: "MIT",
    minStars: "1000",
    maxStars: "20000",
    createdAfter: "2024-01-01",
    createdBefore: "2025-01-01T12:00:00Z",
    pushedAfter: "2026-01-01",
    archived: "false",
    fork: "any",
    reliableOnly: "true",
    excludeAnomalous: "true",
  };
  assert.equal(
    filterWords(listQuery.parse(query)),
    "matching “fast json”, on gitlab, language go or rust, topic cli, license MIT, at least 1,000 stars, at most 20,000 stars, created since 2024-01-01, created before 2025-01-01T12:00:00.000Z, pushed since 2026-01-01, not archived, forks or not, reliable growth only, without unusual growth",
  );
  assert.equal(filterWords(listQuery.parse({})), "");
});
