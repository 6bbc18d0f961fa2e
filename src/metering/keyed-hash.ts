/** Key of a hash: 64 random bits, as two 32-bit integers. */
export type HashKey = readonly [number, number];

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/**
 * HalfSipHash-2-4 (Aumasson and Bernstein) of an ASCII text: 64 bits, as two 32-bit integers. Without the key nobody can find
 * colliding texts. Suited to short texts and 32-bit arithmetic, which is what JavaScript has.
 */
export class KeyedHash {
  readonly #key: HashKey;
  #v0 = 0;
  #v1 = 0;
  #v2 = 0;
  #v3 = 0;
  /** The two halves of the last hash; fields, to avoid allocation. */
  low = 0;
  high = 0;

  constructor(key: HashKey) {
    this.#key = key;
  }

  /** Hashes a text into `low` and `high`. */
  hash(text: string): void {
    const [k0, k1] = this.#key;
    this.#v0 = k0;
    this.#v1 = k1 ^ 0xee;
    this.#v2 = k0 ^ 0x6c796765;
    this.#v3 = k1 ^ 0x74656462;
    const whole = text.length & ~3;
    for (let i = 0; i < whole; i += 4) {
      this.#absorb(
        text.charCodeAt(i) |
          (text.charCodeAt(i + 1) << 8) |
          (text.charCodeAt(i + 2) << 16) |
          (text.charCodeAt(i + 3) << 24),
      );
    }
    let last = text.length << 24;
    for (let i = whole; i < text.length; i++) last |= text.charCodeAt(i) << (8 * (i - whole));
    this.#absorb(last);
    this.#v2 ^= 0xee;
    this.#rounds(4);
    this.low = (this.#v1 ^ this.#v3) >>> 0;
    this.#v1 ^= 0xdd;
    this.#rounds(4);
    this.high = (this.#v1 ^ this.#v3) >>> 0;
  }

  #absorb(word: number): void {
    this.#v3 ^= word;
    this.#rounds(2);
    this.#v0 ^= word;
  }

  #rounds(count: number): void {
    let v0 = this.#v0;
    let v1 = this.#v1;
    let v2 = this.#v2;
    let v3 = this.#v3;
    for (let i = 0; i < count; i++) {
      v0 = (v0 + v1) | 0;
      v1 = rotate(v1, 5) ^ v0;
      v0 = rotate(v0, 16);
      v2 = (v2 + v3) | 0;
      v3 = rotate(v3, 8) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = rotate(v3, 7) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = rotate(v1, 13) ^ v2;
      v2 = rotate(v2, 16);
    }
    this.#v0 = v0;
    this.#v1 = v1;
    this.#v2 = v2;
    this.#v3 = v3;
  }
}
