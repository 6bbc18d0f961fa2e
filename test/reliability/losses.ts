import type { ResultRow } from "../../bench/support/results.js";
import type { Provider, UpstreamRepository } from "../../src/forges/contract.js";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { Engine } from "../support/engines.js";
import type { Forge, ForgeRepository, ForgeRequest } from "../support/forge/forge.js";
import { createTrackingWorld, type TrackingWorld } from "../support/tracking.js";
import { withEngines } from "./support/engines.js";
import { assertHappened, type Harness, type HarnessContext } from "./support/harness.js";

const SCALE = {
  short: { repositories: 24, faultDays: 2, days: 4 },
  long: { repositories: 150, faultDays: 5, days: 14 },
} as const;
/** Trials that the short form repeats on PostgreSQL. */
const ON_BOTH = ["half of everything is missing"];
/** A worker runs for this part of each day; the retries after failures do not need more. */
const AWAKE_MS = 3 * HOUR_MS;
/** Repositories that are really deleted while the fault lasts. */
const DELETED = 2;

export const losses: Harness = {
  name: "losses",
  proves:
    "No forge that wrongly reports its repositories missing makes one unavailable for good, and real deletions are found meanwhile.",
  async run({ scale, report }: HarnessContext): Promise<ResultRow[]> {
    const rows: ResultRow[] = [];
    await withEngines(async (engine) => {
      const isAll = scale === "long" || engine.name === "sqlite";
      for (const trial of LOSS_TRIALS.filter(({ name }) => isAll || ON_BOTH.includes(name))) {
        const played = await play(engine, trial, SCALE[scale]);
        rows.push(...rowsOf(engine, trial, played));
        report(`${engine.name}, ${trial.name}: ${JSON.stringify(played)}`);
      }
      if (engine.name !== "sqlite") return;
      // Without second endpoints the same fault must do harm, or the trials prove nothing.
      const [trial] = LOSS_TRIALS.filter(({ name }) => name === "404 for everything, by number and name");
      if (trial === undefined) return;
      const unprotected = await play(engine, { ...trial, wrap: believing() }, SCALE[scale]);
      assertHappened(unprotected.worst, "repositories wrongly marked without confirmation");
      rows.push({
        measure: "control: wrongly marked at worst, where the second endpoint is not asked",
        engine: engine.name,
        value: unprotected.worst,
        unit: "repositories",
        target: { atLeast: 1 },
      });
    });
    return rows;
  },
};

interface Played {
  repositories: number;
  /** Wrongly unavailable at the worst moment, and at the end. */
  worst: number;
  lost: number;
  /** Reported missing at the worst moment, and at the end. */
  missingAtWorst: number;
  missing: number;
  /** Really deleted, and not found. */
  overlooked: number;
  requests: number;
}

function rowsOf({ name: engine }: Engine, { name }: LossTrial, played: Played): ResultRow[] {
  const none = { atMost: 0 };
  const row = (what: string, value: number, target?: ResultRow["target"]): ResultRow => ({
    measure: `${name}: ${what}`,
    engine,
    size: played.repositories,
    value,
    unit: what === "requests" ? "requests" : "repositories",
    ...(target && { target }),
  });
  return [
    row("wrongly marked at worst", played.worst),
    row("missing at worst", played.missingAtWorst),
    row("wrongly marked at the end", played.lost, none),
    row("missing at the end", played.missing, none),
    row("real deletions overlooked", played.overlooked, none),
    row("requests", played.requests),
  ];
}

async function play(
  engine: Engine,
  trial: LossTrial,
  { repositories, faultDays, days }: (typeof SCALE)["short" | "long"],
): Promise<Played> {
  const name = trial.kind === "github" ? "GITHUB" : "CODEBERG";
  const world = await createTrackingWorld(
    await engine.open(),
    [
      {
        kind: trial.kind,
        name,
        repositories,
        catalogue: "quiet",
        hasHistory: false,
        ...(trial.wrap && { wrap: trial.wrap }),
      },
    ],
    { idleMs: HOUR_MS / 4, deriveEveryMs: DAY_MS },
  );
  try {
    const forge = world.forge(name);
    const { catalogue } = forge;
    await world.pass(HOUR_MS);
    await passDay(world);
    const all = [...catalogue.truth(world.clock.now())].map(({ fullName }) => fullName);
    const ids = catalogue.ids();
    const deleted = ids.slice(-DELETED);
    const gone = new Set(deleted.map((id) => catalogue.get(id, world.clock.now())?.fullName ?? ""));
    const began = forge.counters.requests;
    let [worst, missingAtWorst] = [0, 0];
    const check = async () => {
      const now = await statesOf(world, gone);
      worst = Math.max(worst, now.wrong);
      missingAtWorst = Math.max(missingAtWorst, now.missing);
      return now;
    };
    trial.begin(forge);
    for (let day = 0; day < faultDays; day++) {
      if (day === 1)
        for (const id of deleted) catalogue.add({ at: world.clock.now(), kind: "deleted", id, to: null });
      await passDay(world);
      await check();
    }
    forge.switches.lie = null;
    forge.switches.fault = null;
    for (let day = 0; day < days; day++) {
      await passDay(world);
      await check();
    }
    const end = await check();
    assertHappened(forge.counters.requests - began, "requests");
    assertHappened(all.length, "repositories", repositories);
    return {
      repositories,
      worst,
      lost: end.wrong,
      missingAtWorst,
      missing: end.missing,
      overlooked: end.overlooked,
      requests: forge.counters.requests - began,
    };
  } finally {
    await world.close();
  }
}

/** A day in which a new worker runs for some hours. */
async function passDay(world: TrackingWorld): Promise<void> {
  await world.stop();
  world.clock.advance(DAY_MS - AWAKE_MS);
  await world.addWorker();
  await world.pass(AWAKE_MS);
}

/** The repositories that the forge had before the fault: which are wrongly unavailable, missing, or wrongly available. */
async function statesOf({ modules }: TrackingWorld, gone: ReadonlySet<string>) {
  const rows = await modules.database.read
    .selectFrom("repositories")
    .leftJoin("tracking", "tracking.repository_id", "repositories.id")
    .select(["owner", "name", "availability", "missing_since"])
    .execute();
  const [counted, wrongNow] = [
    { wrong: 0, missing: 0, overlooked: 0 },
    rows.filter((row) => row.owner !== "new"),
  ];
  for (const { owner, name, availability, missing_since } of wrongNow) {
    const isGone = gone.has(`${owner}/${name}`);
    if (!isGone && availability !== "AVAILABLE") counted.wrong++;
    if (!isGone && missing_since !== null) counted.missing++;
    if (isGone && availability === "AVAILABLE") counted.overlooked++;
  }
  return counted;
}

/** Wraps providers so that no second endpoint is asked: what the first has reported is reported again, all others are known. */
function believing(): (provider: Provider) => Provider {
  const known = new Map<string, UpstreamRepository>();
  const lost = new Set<string>();
  return (provider) => ({
    ...provider,
    async refreshMany(refs, signal) {
      const results = await provider.refreshMany(refs, signal);
      results.forEach((result, i) => {
        const id = refs[i]?.providerId ?? "";
        if (result.kind === "failed") lost.add(id);
        if (result.kind === "found") known.set(id, result.repository);
      });
      return results;
    },
    async recheck({ providerId }) {
      const found = known.get(providerId) ?? [...known.values()][0];
      if (lost.has(providerId) || found === undefined) throw new UpstreamFailure("gone", "not asked");
      return found;
    },
  });
}

interface LossTrial {
  name: string;
  kind: "github" | "forgejo";
  /** Begins the fault; `switches.lie` and `switches.fault` are reset when it ends. */
  begin(forge: Forge): void;
  /** Wraps the provider that the worker uses. */
  wrap?: (provider: Provider) => Provider;
}

type Lie = (truth: ForgeRepository, request: ForgeRequest) => Partial<ForgeRepository> | undefined;

const GONE = { visibility: "deleted" } as const;
const lying = (lie: Lie) => (forge: Forge) => {
  forge.switches.lie = lie;
};
const failing = (fault: NonNullable<Forge["switches"]["fault"]>) => (forge: Forge) => {
  forge.switches.fault = fault;
};
const isOfOne = ({ kind }: ForgeRequest) => kind.startsWith("repository") || kind === "graphql";

/** A repository whose id belongs to another one now. */
const another = ({ id, createdAt }: ForgeRepository): Partial<ForgeRepository> => ({
  owner: "new",
  name: `one-${id}`,
  fullName: `new/one-${id}`,
  createdAt: createdAt + 400 * DAY_MS,
});

const LOSS_TRIALS: readonly LossTrial[] = [
  {
    name: "old node ids are not found",
    kind: "github",
    begin: lying((_, { kind }) => (kind === "graphql" ? GONE : undefined)),
  },
  {
    name: "ids are reused",
    kind: "forgejo",
    begin: lying((truth, { kind }) => (kind === "repository" ? { id: 900_000 + truth.id } : another(truth))),
  },
  {
    name: "nulls without errors",
    kind: "github",
    begin: failing(({ kind }) => (kind === "graphql" ? { name: "null-nodes" } : undefined)),
  },
  { name: "404 for everything", kind: "github", begin: failing(() => "status-404") },
  { name: "404 for everything, by number and name", kind: "forgejo", begin: failing(() => "status-404") },
  {
    name: "404 for one endpoint",
    kind: "forgejo",
    begin: failing(({ kind }) => (kind === "repository-by-id" ? "status-404" : undefined)),
  },
  {
    name: "redirects to a login",
    kind: "forgejo",
    begin: (forge) => failing(() => ({ name: "other-host", location: `${forge.url}/login` }))(forge),
  },
  { name: "pages of a login", kind: "github", begin: failing(() => "html") },
  {
    name: "empty lists and walks, and 404 by number",
    kind: "forgejo",
    begin: lying((_, { kind }) => (kind === "repository" ? undefined : GONE)),
  },
  { name: "451 for everything", kind: "github", begin: failing(() => "status-451") },
  { name: "private: true for everything", kind: "forgejo", begin: failing(() => ({ name: "all-private" })) },
  {
    name: "restored from a backup",
    kind: "forgejo",
    begin: lying((truth, { kind }) => {
      if (truth.id % 4 === 0) return GONE;
      if (truth.id % 4 === 1 && kind !== "repository") return another(truth);
      return { stars: Math.floor(truth.stars * 0.97) };
    }),
  },
  {
    name: "half of everything is missing",
    kind: "forgejo",
    begin: lying(({ id }) => (id % 2 === 0 ? GONE : undefined)),
  },
  {
    name: "a token that lost its rights",
    kind: "github",
    begin: lying(({ id }, request) => (id % 5 < 2 && isOfOne(request) ? GONE : undefined)),
  },
  {
    name: "410 mixed with 5xx",
    kind: "forgejo",
    begin(forge) {
      let requests = 0;
      forge.switches.fault = () =>
        (["status-410", "status-410", "status-502", "status-500"] as const)[requests++ % 4];
    },
  },
];
