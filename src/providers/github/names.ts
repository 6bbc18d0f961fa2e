import { UpstreamFailure } from "../failures.js";

/** The parts of `owner/name` as routes take them. Throws `gone` for what cannot be the name of a repository of GitHub. */
export function nameParameters(fullName: string): { owner: string; repo: string } {
  const [, owner, repo] = /^([\w.-]{1,100})\/([\w.-]{1,100})$/.exec(fullName) ?? [];
  const isPart = (part: string | undefined) => part !== undefined && !/^\.\.?$/.test(part);
  if (owner === undefined || repo === undefined || !isPart(owner) || !isPart(repo)) {
    throw new UpstreamFailure("gone", "not a name that a repository of GitHub can have");
  }
  return { owner, repo };
}
