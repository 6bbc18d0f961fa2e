import type { Command } from "commander";
import { repositoryKey } from "../lib/page-addresses.js";
import type { RepositoryAddress } from "../repositories/repositories.js";
import { readAddresses } from "./addresses.js";
import { CommandFault, EXIT, type Host, reportOf, type Tracker } from "./host.js";
import { trackLinks } from "./track-links.js";

interface TrackOptions {
  json?: boolean;
  from?: string;
  list?: string | boolean;
}

const ADDRESSES = "such as github:owner/name, a page of a repository, or a clone URL";

const EXIT_CODES = `
Exit codes:
  0  every repository is tracked, or queued
  1  failed: a repository could not be tracked, or FILE links to none
  2  wrong arguments or settings
  3  done, but repositories were left out, as the queue of their forge is full`;

export function addTrack(program: Command, host: Host, finish: (code: number) => void): void {
  program
    .command("track")
    .description("track repositories immediately; the worker then refreshes them")
    .argument("[repository...]", ADDRESSES)
    .option(
      "--from <file>",
      "queue every repository that a text links to, and make a public list of them; - for standard input",
    )
    .option("--list <name>", "with --from: name of the list; default: that of the file")
    .option("--no-list", "with --from: make no list")
    .option("--json", "print one JSON object per repository; with --from, one")
    .addHelpText("after", EXIT_CODES)
    .action(async (texts: string[], { json = false, from, list }: TrackOptions) => {
      const named = list === true ? undefined : list;
      const problem = argumentProblem(texts, from, named);
      if (problem !== undefined) throw new CommandFault(problem);
      if (from !== undefined) return finish(await trackLinks(host, { from, list: named, json }));
      finish(
        await forEach(host, { texts, json }, async (tracker, { provider, fullName }) => {
          const done = await tracker.track(provider, fullName);
          if ("failure" in done) return { result: done.failure, failed: true };
          const id = done.repositoryId === null ? {} : { id: String(done.repositoryId) };
          return { ...id, result: TRACKED[done.result] };
        }),
      );
    });
  program
    .command("refresh")
    .description("refresh known repositories immediately")
    .argument("<repository...>", ADDRESSES)
    .option("--json", "print one JSON object per repository")
    .action(async (texts: string[], { json }: { json?: boolean }) =>
      finish(
        await forEach(host, { texts, json: json === true }, async (tracker, { provider, fullName }) => {
          const result = await tracker.refresh(provider, fullName);
          if (typeof result !== "string") return { result: result.failure, failed: true };
          return { result: REFRESHED[result], failed: result === "unknown" };
        }),
      ),
    );
}

/** Why the arguments of `track` do not fit together. */
function argumentProblem(
  texts: readonly string[],
  from: string | undefined,
  list: string | false | undefined,
): string | undefined {
  if (from !== undefined && texts.length > 0) return "Name repositories, or a file with --from, not both.";
  if (from === undefined && texts.length === 0) return "Name a repository, or a file with --from.";
  if (from === undefined && list !== undefined) return "--list and --no-list belong to --from.";
  return undefined;
}

const QUEUED = "queued for the active worker";
const TRACKED = { tracked: "tracked", known: "already known, refreshed", queued: QUEUED } as const;
const REFRESHED = { found: "found", unchanged: "unchanged", unknown: "not tracked", queued: QUEUED } as const;

async function forEach(
  host: Host,
  { texts, json }: { texts: readonly string[]; json: boolean },
  act: (
    tracker: Tracker,
    named: RepositoryAddress,
  ) => Promise<{ id?: string; result: string; failed?: boolean }>,
): Promise<number> {
  const named = await readAddresses(texts, host);
  if (typeof named === "string") throw new CommandFault(named);
  const { UpstreamFailure } = await import("../forges/forges.js");
  const tracker = await host.openTracker();
  let code: number = EXIT.ok;
  try {
    for (const { provider, fullName } of named) {
      const print = (done: { result: string; failure?: string }, words: string) => {
        const facts = { provider, fullName, ...done };
        host.stdout.write(reportOf(json, facts, `${repositoryKey({ provider, fullName })}: ${words}`));
      };
      try {
        const { failed, ...done } = await act(tracker, { provider, fullName });
        if (failed === true) code = EXIT.failed;
        print(done, done.result);
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error;
        code = EXIT.failed;
        print({ result: "failed", failure: error.kind }, `${error.kind} (${error.message})`);
      }
    }
  } finally {
    await tracker.close();
  }
  return code;
}
