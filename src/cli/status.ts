import type { Command } from "commander";
import type { MailUse } from "../accounts/accounts.js";
import { DAY_MS, isoTime } from "../lib/clock.js";
import type { Ages, ProviderStatus } from "../tracking/tracking.js";
import { type Host, reportOf, requireStore, withModules } from "./host.js";

export function addStatus(program: Command, host: Host): void {
  program
    .command("status")
    .description("show the state of tracking: due refreshes, freshness, failures, remaining quota")
    .option("--json", "print one JSON object")
    .action(async ({ json }: { json?: boolean }) => {
      const { readMailUse } = await import("../accounts/accounts.js");
      const { readNotedProxy } = await import("../http/http.js");
      const { readStatus } = await import("../tracking/tracking.js");
      requireStore(host.config);
      await withModules(host, async ({ database, catalog, forges }) => {
        const now = host.clock.now();
        const providers = await readStatus(database, now);
        const mail = await readMailUse(database.read, now);
        const catalogue = await catalog.kind();
        const isNamed = host.config.trustedProxies.length > 0;
        const unnamedProxy = isNamed ? null : await readNotedProxy(database.read);
        const read = await forges.read();
        const walked = new Set(read.filter(({ onDemand }) => onDemand !== true).map(({ name }) => name));
        const tracked = providers
          .map((one) => describe(one, { now, isWalked: walked.has(one.provider) }))
          .join("\n\n");
        const lines = [
          catalogue === "sample" ? SAMPLE : tracked || "nothing is tracked yet",
          "",
          `mail            ${describeMail(mail)}`,
          ...(unnamedProxy === null ? [] : [`proxy           ${describeProxy(unnamedProxy)}`]),
        ];
        const facts = { catalogue, providers, mail, unnamedProxy };
        host.stdout.write(reportOf(json === true, facts, lines.join("\n")));
      });
    });
}

const SAMPLE = "the catalogue is the bundled sample, and nothing is tracked: it goes when a forge is tracked";

function describeProxy({ sign, peer, at }: { sign: string; peer: string; at: number }): string {
  return `unnamed, at ${peer} since ${isoTime(at)} (${sign}): all its clients share one limit until SIDEREAL_TRUSTED_PROXIES names it`;
}

/** `isWalked`: whether the settings have the forge read as a whole. */
function describe(status: ProviderStatus, { now, isWalked }: { now: number; isWalked: boolean }): string {
  const { provider, freshness, detailsFreshness, missing, lostToday, newToday, avatars, worker } = status;
  const states = Object.entries(status.repositories).map(
    ([state, count]) => `${count} ${state.toLowerCase()}`,
  );
  const lines = [
    provider,
    `  repositories  ${states.join(", ") || "none"}; ${status.scheduled} scheduled`,
    `  queue         ${status.due} due, ${status.overdue} for over an hour, ${status.rechecksWaiting} to be read a second time`,
    `  counts        ${freshness === null ? "nothing read yet" : `read ${agesOf(freshness)} ago; ${status.olderThanADay} over a day ago`}`,
    ...describeHistories(status),
    ...(detailsFreshness === null ? [] : [`  own records   read ${agesOf(detailsFreshness)} ago`]),
    ...(isWalked || status.walk !== null ? [`  discovery     ${describeWalk(status.walk)}`] : []),
    ...describeRequests(status.requests, now),
  ];
  if (missing.waiting > 0 || lostToday > 0) {
    const since = missing.since === null ? "" : ` since ${isoTime(missing.since)}`;
    lines.push(
      `  losses        ${lostToday} today, ${missing.waiting} reported missing and not recorded${since}`,
    );
  }
  if (newToday.surplus > 0)
    lines.push(
      `  surplus       ${newToday.added} new repositories added today, ${newToday.surplus} more listed and left out: see SIDEREAL_${provider}_NEW_PER_DAY`,
    );
  if (avatars.wanted > 0)
    lines.push(`  avatars       ${avatars.images} of ${avatars.wanted} owners on lists`);
  if (worker !== null) {
    const { at, report } = worker;
    const isGone = now - at > GONE_MS;
    const seen = isGone ? `gone, last seen ${duration(now - at)} ago` : `last seen ${isoTime(at)}`;
    const failures = Object.entries(report.failures).map(([kind, count]) => `${count} ${kind}`);
    lines.push(
      `  worker        ${report.worker}, ${seen}: ${report.refreshed} refreshed (${report.doubted} doubtful, ${report.rechecked} read a second time), ${report.discovered} discovered, ${report.listed} read from lists, stretch ${report.stretch.toFixed(2)}`,
      `  failures      ${failures.join(", ") || "none"}`,
      ...report.recentFailures.map(
        ({ kind, message, count, firstAt, at: lastAt }) =>
          `                ${count} ${kind} since ${isoTime(firstAt)}, last ${isoTime(lastAt)}: ${message}`,
      ),
    );
    if (report.withheld.length > 0) lines.push(`  withheld      ${report.withheld.join(", ")}`);
    for (const { token, resource, limit, remaining, resetAt } of report.quota) {
      const reset = resetAt === null ? "" : `, resets ${isoTime(resetAt)}`;
      const left =
        remaining === null || limit === null ? "not reported yet" : `${remaining} of ${limit} left`;
      lines.push(`  quota         ${token} ${resource}: ${left}${reset}`);
    }
    lines.push(...blocksOf(report.quota, now));
  }
  return lines.join("\n");
}

/** How far the star histories are read; nothing where the forge has none. */
function describeHistories({ histories, backfillNextAt }: ProviderStatus): string[] {
  const { WHOLE, READING, WAITING, REFUSED } = histories;
  if (WHOLE + READING + WAITING + REFUSED === 0) return [];
  const next = backfillNextAt === null ? "" : `; the next part at ${isoTime(backfillNextAt)}`;
  return [
    `  histories     ${WHOLE} whole, ${READING} being read, ${WAITING} waiting, ${REFUSED} refused${next}`,
  ];
}

function describeRequests({ people, batch, oldest }: ProviderStatus["requests"], now: number): string[] {
  if (oldest === null) return [];
  return [`  requests      ${people} of people, ${batch} of lists; the oldest ${duration(now - oldest)} ago`];
}

/** A worker reports every ten seconds. */
const GONE_MS = 60_000;

function agesOf({ median, p90, p99 }: Ages): string {
  return `${duration(median)} (median), ${duration(p90)} (90 %), ${duration(p99)} (99 %)`;
}

function describeWalk(walk: ProviderStatus["walk"]): string {
  if (walk === null) return "not started";
  const { isRunning, nextAt, found, startedAt, walks } = walk;
  const state = isRunning ? "running" : nextAt === null ? "due" : `next at ${isoTime(nextAt)}`;
  return `${state}, ${found} found since ${isoTime(startedAt)}, ${walks} walks finished${durationOf(walk)}`;
}

const BLOCKED = {
  rejected: "rejected by the forge",
  no_access: "no access",
  slow_down: "the forge asked to slow down",
  used_up: "used up",
  not_renewed: "no new token was obtained",
} as const;

/** One line for each block of a token, with the resources it applies to. */
function blocksOf(quota: NonNullable<ProviderStatus["worker"]>["report"]["quota"], now: number): string[] {
  const resourcesOf = new Map<string, { resources: string[]; why: string }>();
  for (const { token, resource, blockReason, blockedUntil, blockMessage } of quota) {
    const isOver = blockedUntil !== null && blockedUntil <= now && blockReason !== "rejected";
    if (blockReason === null || isOver) continue;
    const end = (blockedUntil ?? 0) > now ? `until ${isoTime(blockedUntil ?? 0)}` : "until it works again";
    const words = blockMessage === null ? "" : ` (${blockMessage})`;
    const why = `${end}: ${BLOCKED[blockReason]}${words}`;
    const key = `${token} ${why}`;
    const known = resourcesOf.get(key)?.resources ?? [];
    resourcesOf.set(key, { resources: [...known, resource], why });
  }
  return [...resourcesOf].map(([key, { resources, why }]) => {
    const token = key.slice(0, key.indexOf(" "));
    return `  blocked       ${token} (${resources.join(", ")}) ${why}`;
  });
}

function describeMail({ sent, refused }: MailUse): string {
  const limits = Object.entries(refused).map(([limit, times]) => `${times} over the limit (${limit})`);
  return `${sent} sent in this hour and the last${limits.map((text) => `, ${text}`).join("")}`;
}

function duration(ms: number): string {
  if (ms >= 2 * DAY_MS) return `${(ms / DAY_MS).toFixed(1)} days`;
  return ms < 5_400_000 ? `${Math.round(ms / 60_000)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}

/** The duration of the last walk, and whether it makes counts old. */
function durationOf({ tookMs }: NonNullable<ProviderStatus["walk"]>): string {
  if (tookMs === null) return "";
  const isTooLong = tookMs > DAY_MS;
  return `, the last took ${duration(tookMs)}${isTooLong ? ", so counts get older than a day" : ""}`;
}
