/** The named cases: what is known of a repository around an event of the archives. */
import type { ArchiveName } from "./archive.js";

export interface NamedCase {
  title: string;
  archive: ArchiveName;
  fullName: string;
  /** Dates of the files after which it is looked at: before, during and after the event. */
  dates: readonly [string, string, string];
  /** What the files say. */
  event: string;
  /** What a response must therefore say. */
  expected: string;
}

export const NAMED_CASES: readonly NamedCase[] = [
  {
    title: "A jump like a campaign",
    archive: "daily",
    fullName: "pathwaycom/pathway",
    dates: ["2025-12-28", "2026-01-03", "2026-01-20"],
    event: "from 20 stars a day to 397, 928 and 1,573 with 17 forks in all and no issues",
    expected: "a BURST that stays, low confidence, little of it counted",
  },
  {
    title: "A leap that leads the same day",
    archive: "daily",
    fullName: "openai/symphony",
    dates: ["2026-03-05", "2026-03-06", "2026-03-10"],
    event: "from 1,749 to 5,667 stars in a day with 243 forks",
    expected: "all of it counted, and a place at the top that day",
  },
  {
    title: "A rise with a loss of forks",
    archive: "daily",
    fullName: "ultraworkers/claw-code",
    dates: ["2026-04-02", "2026-04-03", "2026-04-07"],
    event: "25,282 stars in a day, while forks fell by 655",
    expected: "the stars are confirmed by the readings after them",
  },
  {
    title: "A purge",
    archive: "daily",
    fullName: "zeroclaw-labs/zeroclaw",
    dates: ["2026-03-03", "2026-03-04", "2026-03-06"],
    event: "549 stars fewer in a day, in a week of 1,806 more",
    expected: "the loss is shown as PURGE and counted; the week stays high",
  },
  {
    title: "A collapse of forks",
    archive: "daily",
    fullName: "cline/cline",
    dates: ["2025-11-12", "2025-11-13", "2025-11-16"],
    event: "forks from 7,684 to 5,200 in a day, stars as usual",
    expected: "in doubt until the next reading confirms it; stars count as always",
  },
  {
    title: "A disappearance, and forks gone on return",
    archive: "daily",
    fullName: "aquasecurity/trivy",
    dates: ["2026-02-28", "2026-03-03", "2026-03-07"],
    event: "in no file from 1 to 5 March, then with 68 forks instead of 2,979",
    expected: "stale while it is gone and in no ranking; the forks in doubt, then confirmed",
  },
  {
    title: "A new name",
    archive: "daily",
    fullName: "openclaw/openclaw",
    dates: ["2026-01-30", "2026-01-31", "2026-02-02"],
    event: "was clawdbot/clawdbot and moltbot/moltbot; two names in the file of 30 January",
    expected: "no growth on the first day, which has nothing to compare it with",
  },
  {
    title: "A dead name",
    archive: "daily",
    fullName: "moltbot/moltbot",
    dates: ["2026-01-29", "2026-01-31", "2026-02-03"],
    event: "the last file that has it is that of 30 January",
    expected: "stale from the next file on, and in no ranking by growth",
  },
  {
    title: "A name that another repository took",
    archive: "awesome-go",
    fullName: "chrislusf/seaweedfs",
    dates: ["2026-01-05", "2026-01-06", "2026-01-14"],
    event: "29,326 stars and created in 2014, then 0 and created the same day, then 1",
    expected: "another repository; nobody lost 29,325 stars",
  },
  {
    title: "A newborn",
    archive: "awesome-go",
    fullName: "zendev-sh/goai",
    dates: ["2026-03-20", "2026-04-01", "2026-04-30"],
    event: "43 days old with 69 stars on 30 April",
    expected: "new and hot, but little of it: there is little evidence",
  },
  {
    title: "A fall and a return",
    archive: "weekly",
    fullName: "ant-design/ant-design",
    dates: ["2021-02-08", "2021-02-22", "2021-05-17"],
    event: "from 66,730 to 3,364 stars, and in May from 6,511 to 70,736, with forks as always",
    expected: "neither the fall nor the return counts",
  },
  {
    title: "Two repositories in one",
    archive: "weekly",
    fullName: "facebookresearch/fairseq",
    dates: ["2022-05-16", "2022-05-23", "2022-06-06"],
    event: "from 3,791 to 17,023 stars and from 636 to 4,477 forks in a week",
    expected: "forks came along, so it is not doubted as a burst; the level is new, not the interest",
  },
];
