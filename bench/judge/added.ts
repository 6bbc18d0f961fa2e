/** Campaigns and leaps added to real series, and what the service says of them. */
import type { Random } from "../synthetic/random.js";
import type { Archive } from "./archive.js";
import { type Campaign, drawCampaign } from "./campaign.js";
import { inject } from "./changes.js";
import { isHeldOut, type Place, pickPlace } from "./hosts.js";
import { growthAt, openKinds } from "./judged.js";
import { graft, type Template } from "./leap.js";
import { usualDay } from "./steps.js";

/** The kinds of open flags on a changed series, on the first visible day and the days after it. */
export interface Flags {
  onDay: Set<string>;
  withinThree: Set<string>;
  /** A week after the last change of stars. */
  weekLater: Set<string>;
  /** Counted part of the gain of the first visible day. */
  counted: number;
}

/** `lastDay`: days from the first changed one to the last one with added stars. */
function flagsOf(
  { track, start }: Place,
  source: string,
  { visible, lastDay }: { visible: number; lastDay: number },
): Flags {
  const since = track.readings.at(start);
  const at = (index: number) => openKinds(growthAt(track, index, source), since, track.readings.at(index));
  const day = start + visible;
  const withinThree = new Set([0, 1, 2, 3].flatMap((later) => [...at(day + later)]));
  const growth = growthAt(track, day, source).find(({ window }) => window === "24h");
  const gained = growth === undefined ? 0 : growth.to.stars - growth.from.stars;
  const counted = growth === undefined || gained <= 0 ? 0 : growth.starsCounted / gained;
  const last = Math.min(track.readings.length - 1, start + lastDay + 7);
  return { onDay: at(day), withinThree, weekLater: at(last), counted };
}

/** A changed series, and what is said of it. */
export interface Judged {
  place: Place;
  isHeldOut: boolean;
  flags: Flags;
}
export interface JudgedCampaign extends Judged {
  campaign: Campaign;
}
export interface JudgedLeap extends Judged {
  template: Template;
}

/** Adds this many campaigns to the archive, each alone. */
export function judgeCampaigns(archive: Archive, count: number, random: Random): JudgedCampaign[] {
  const judged: JudgedCampaign[] = [];
  while (judged.length < count) {
    const { track, start } = pickPlace(random, archive.tracks);
    const [stars, forks] = [track.readings.stars(start - 1), track.readings.count(start - 1, 2)];
    const usual = usualDay(track.readings, start);
    if (usual === undefined || stars === 0) continue;
    const campaign = drawCampaign(random, { usual, forksPerStar: forks === null ? null : forks / stars });
    if (campaign === undefined) continue;
    const place = { track: inject(track, start, campaign.changes), start };
    const flags = flagsOf(place, archive.source, { visible: campaign.visible, lastDay: campaign.days - 1 });
    judged.push({ place, campaign, isHeldOut: isHeldOut(track.name), flags });
  }
  return judged;
}

/** Grafts this many leaps onto the archive, each alone; none without templates. */
export function judgeLeaps(
  archive: Archive,
  count: number,
  { random, templates }: { random: Random; templates: readonly Template[] },
): JudgedLeap[] {
  if (templates.length === 0) return [];
  const judged: JudgedLeap[] = [];
  while (judged.length < count) {
    const template = random.pick(templates);
    const { track, start } = pickPlace(random, archive.tracks);
    const grafted = graft(random, template, { track, start });
    if (grafted === undefined) continue;
    const place = { track: inject(track, start, grafted.changes), start };
    const flags = flagsOf(place, archive.source, { visible: grafted.visible, lastDay: grafted.visible });
    judged.push({ place, template, isHeldOut: isHeldOut(template.track.name), flags });
  }
  return judged;
}
