/** Decides whether a release may be made of the checkout. */
export interface ReleaseFacts {
  /** The version in each place that has one, by the name of the place. */
  versions: Readonly<Record<string, string | undefined>>;
  changelog: string;
  /** Lines of `git status --porcelain`. */
  changed: readonly string[];
  /** The commit to release, and the one that the version's tag names; undefined without that tag. */
  commit: string;
  tagged: string | undefined;
}

/** Why no release may be made, one line each. */
export function releaseProblems({ versions, changelog, changed, commit, tagged }: ReleaseFacts): string[] {
  const problems: string[] = [];
  if (changed.length > 0)
    problems.push(`the checkout has changes: ${changed.map((line) => line.slice(3)).join(", ")}`);
  const [first, ...others] = Object.entries(versions);
  const [place = "", version = ""] = first ?? [];
  for (const [other, found] of others)
    if (found !== version) problems.push(`${other} has version ${found}, ${place} ${version}`);
  const heading = changelog.split("\n").find((line) => line.startsWith(`## [${version}]`));
  if (heading === undefined) problems.push(`CHANGELOG.md has no heading for ${version}`);
  else if (!/ - \d{4}-\d{2}-\d{2}$/.test(heading))
    problems.push(`CHANGELOG.md has no date for ${version}: ${heading}`);
  const unreleased = /^## \[Unreleased\]\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog)?.[1]?.trim() ?? "";
  if (unreleased !== "") problems.push("CHANGELOG.md has entries below Unreleased");
  if (tagged !== undefined && tagged !== commit)
    problems.push(`the tag v${version} names another commit, ${tagged}`);
  return problems;
}
