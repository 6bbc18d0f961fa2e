import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { EVENT_KINDS, ForgeCatalogue, type ForgeRepository } from "../support/forge/forge.js";
import { START } from "../support/forge/world.js";

const OPTIONS = { seed: 11, repositories: 20_000, start: START, days: 30 };
const catalogue = new ForgeCatalogue(OPTIONS);
const at = (day: number) => START + day * DAY_MS;

test("the same seed always gives the same catalogue, another seed a different one", () => {
  const twin = new ForgeCatalogue(OPTIONS);
  const [moment, id] = [at(17.3), catalogue.ids()[4_711] ?? 0];
  assert.deepEqual(twin.events(), catalogue.events());
  twin.get(id, at(29));
  assert.deepEqual(twin.get(id, moment), catalogue.get(id, moment));
  const other = new ForgeCatalogue({ ...OPTIONS, seed: 12 });
  assert.notDeepEqual(other.get(other.ids()[4_711] ?? 0, moment), catalogue.get(id, moment));
});

test("all kinds of events happen, and records follow them", () => {
  const events = catalogue.events();
  assert.deepEqual(new Set(events.map(({ kind }) => kind)), new Set(EVENT_KINDS));
  for (const { at: when, kind, id, from, to } of events) {
    const [before, after] = [catalogue.get(id, when - 1), catalogue.get(id, when)];
    if (kind === "created") assert.equal(before, undefined);
    if (kind === "created" || kind === "renamed" || kind === "transferred") assert.equal(after?.fullName, to);
    if (kind === "renamed" || kind === "transferred") assert.equal(before?.fullName, from);
    if (kind === "renamed") assert.equal(before?.owner, after?.owner);
    if (kind === "transferred") assert.equal(before?.name, after?.name);
    if (kind === "archived") assert.deepEqual([before?.isArchived, after?.isArchived], [false, true]);
    if (kind === "hidden") assert.equal(after?.visibility, "private");
    if (kind === "blocked" || kind === "deleted") assert.equal(after?.visibility, kind);
    if (kind === "shown" || kind === "restored") assert.equal(after?.visibility, "public");
    if (kind === "burst") assert.ok((after?.stars ?? 0) >= (before?.stars ?? 0) + Number(to));
  }
});

test("popularity follows a power law, and most repositories do not change for days", () => {
  const now = new Map(Array.from(catalogue.truth(at(3)), (repository) => [repository.id, repository]));
  const later = Array.from(catalogue.truth(at(6)));
  const stars = later.map((repository) => repository.stars).sort((a, b) => b - a);
  const total = stars.reduce((sum, count) => sum + count, 0);
  assert.ok(stars.slice(0, 200).reduce((sum, count) => sum + count, 0) > total / 3);
  const counts = ({ stars, forks, openIssues, watchers }: ForgeRepository) =>
    [stars, forks, openIssues, watchers].join();
  const same = later.filter((repository) => {
    const before = now.get(repository.id);
    return before !== undefined && counts(before) === counts(repository);
  });
  assert.ok(same.length > 0.6 * later.length, `${same.length} of ${later.length}`);
  assert.ok(same.length < 0.95 * later.length, `${same.length} of ${later.length}`);
});

test("ids are never reused, names only when they are free", () => {
  const moment = at(30);
  const names = new Map<string, number>();
  let reused = 0;
  for (const { id, fullName, visibility } of catalogue.truth(moment)) {
    if (visibility === "deleted") continue;
    assert.equal(names.get(fullName.toLowerCase()), undefined, fullName);
    names.set(fullName.toLowerCase(), id);
    assert.equal(catalogue.find(fullName, moment)?.repository.id, id);
  }
  for (const { kind, from, id } of catalogue.events()) {
    if (kind !== "renamed" && kind !== "transferred") continue;
    const found = catalogue.find(from ?? "", moment);
    if (found?.repository.id !== id) reused++;
    else assert.equal(found.isMoved, true);
  }
  assert.ok(reused > 0, "no name was taken by another");
  assert.equal(new Set(catalogue.ids()).size, catalogue.size);
});

test("a catalogue of a hundred thousand repositories can be read", () => {
  const large = new ForgeCatalogue({ ...OPTIONS, repositories: 100_000 });
  let stars = 0;
  for (const id of large.ids()) stars += large.get(id, at(12))?.stars ?? 0;
  assert.ok(stars > 1_000_000);
});
