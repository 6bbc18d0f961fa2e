/** The repository whose job runs `publish`, and the public addresses of files on its branches. */
import type { ForgeKind, ProviderSettings } from "../config/config.js";
import { repositoryUrl } from "../config/config.js";
import { addressReader, type RepositoryAddress } from "../repositories/repositories.js";
import type { Pass } from "./pass.js";

type Here = Pick<Pass, "job"> & { forges: readonly Pick<ProviderSettings, "name" | "kind" | "url">[] };

export interface OwnRepository extends RepositoryAddress {
  owner: string;
}

/** Undefined outside of a job, and for one of a forge that no setting names. */
export function ownRepository({ job, forges }: Here): OwnRepository | undefined {
  const address = job && addressReader(forges)(job.repository);
  return job === undefined || address === undefined || "problem" in address
    ? undefined
    : { ...address, owner: job.owner };
}

/** Below the address of a repository, before the name of a branch. */
const RAW: Readonly<Record<ForgeKind, string>> = {
  github: "raw",
  gitlab: "-/raw",
  forgejo: "raw/branch",
  gogs: "raw",
};

/** The path as a part of an address. */
export const encodedPath = (path: string): string =>
  path
    .split(/[\\/]/)
    .filter((part) => part !== "" && part !== ".")
    .map(encodeURIComponent)
    .join("/");

/** The address that leads to the files of a branch; undefined outside of a job. */
export function rawAddress(pass: Here, branch: string): string | undefined {
  const own = ownRepository(pass);
  const forge = pass.forges.find(({ name }) => name === own?.provider);
  if (own === undefined || forge === undefined) return undefined;
  return `${repositoryUrl(forge.url, own.fullName)}/${RAW[forge.kind]}/${encodedPath(branch)}`;
}
