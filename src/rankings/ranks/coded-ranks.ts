/**
 * A rank in the text that archived days are stored as, such as `t24o12,s0l3`: the code of its ranking, its hours, the first
 * letter of its scope, and its position.
 */
export interface CodedRank {
  code: string;
  /** 0 for the ranking by stars. */
  hours: number;
  letter: string;
  position: number;
}

export function codedRanks(text: string): CodedRank[] {
  return Array.from(
    text.matchAll(/([a-z])(\d+)([a-z])(\d+)/g),
    ([, code = "", hours, letter = "", position]) => ({
      code,
      hours: Number(hours),
      letter,
      position: Number(position),
    }),
  );
}
