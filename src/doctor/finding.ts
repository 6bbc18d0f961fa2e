import { type DamageKind, KINDS, type Repair } from "./kinds.js";

/** Damage of one kind. */
export interface Finding {
  code: DamageKind;
  title: string;
  /** How often it was found; of many, only some may have been counted. */
  count: number;
  /** The first ones, for people. */
  found: string[];
  advice: string;
  /** Whether `--repair` can bring it back. */
  isDerived: boolean;
}

/** Findings that are named, of each kind. */
const NAMED = 5;
/** Characters of one. */
const MAX_LENGTH = 300;

/** Collects what checks find, in bounded memory. */
export class Findings {
  readonly #byKind = new Map<DamageKind, { count: number; found: string[] }>();

  /** For checks, which pass it on. */
  readonly add = (code: DamageKind, found: string): void => {
    const known = this.#byKind.get(code) ?? { count: 0, found: [] };
    known.count++;
    if (known.found.length < NAMED) known.found.push(found.slice(0, MAX_LENGTH));
    this.#byKind.set(code, known);
  };

  has(code: DamageKind): boolean {
    return this.#byKind.has(code);
  }

  list(): Finding[] {
    return [...this.#byKind].map(([code, { count, found }]) => {
      const { title, advice, repair } = KINDS[code];
      return { code, title, count, found, advice, isDerived: repair !== undefined };
    });
  }

  repairs(): Set<Repair> {
    return new Set([...this.#byKind.keys()].flatMap((code) => KINDS[code].repair ?? []));
  }
}
