/** Ways in which a forge can wrongly report that repositories are missing. */

import type { Provider } from "../../../src/forges/contract.js";
import { DAY_MS } from "../../../src/lib/clock.js";
import type { Forge, ForgeRepository, ForgeRequest } from "../../support/forge/forge.js";

export interface LossTrial {
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

export const LOSS_TRIALS: readonly LossTrial[] = [
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
