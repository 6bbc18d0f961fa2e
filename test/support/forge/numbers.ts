/**
 * Stateless pseudorandom numbers: the same arguments give the same number, so any moment of a catalogue can be computed
 * without the previous ones. (Final mixing step of MurmurHash3, by Austin Appleby, in the public domain.)
 */
function mix(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** From 0 up to, not including, 1; `purpose` separates the uses for one repository. */
export function chance(seed: number, index: number, purpose: number): number {
  const place = mix(index + Math.imul(purpose, 0x9e3779b1));
  return mix(mix(seed + purpose) ^ Math.imul(place, 0x27d4eb2f)) / 4_294_967_296;
}

/** One of the values, uniformly distributed. */
export function pick<T>(values: readonly [T, ...T[]], part: number): T {
  return values[Math.floor(part * values.length)] ?? values[0];
}

/** The quantile `part` of a Pareto distribution with this smallest value: most are small, a few are very large. */
export function powerLaw(part: number, smallest: number, exponent: number): number {
  return smallest * (1 - part) ** (-1 / exponent);
}
